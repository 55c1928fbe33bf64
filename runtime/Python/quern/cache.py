# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The caches: kernels of this process, and those on disk that processes share."""

from quern import _command, _functions, _quern, _rnn


def statistics():
    """Hits, misses, stores and sizes since the start (a dict, as quern_cache_statistics_t)."""
    return _quern.statistics()


def directory():
    """The directory of the disk cache; "" if it is off."""
    return _quern.disk_cache()


def set_directory(path):
    """Keeps kernels in `path`, or nowhere (""). quern.Error: others may write there, or it is a link."""
    _quern.set_disk_cache(str(path))


def set_capacity(*, kernels=None, memory_bytes=None, disk_bytes=None):
    """Limits: kernels and bytes in memory (0 kernels: no memory cache), bytes on disk."""
    if kernels is not None:
        _quern.set_cache_capacity(kernels)
    if memory_bytes is not None:
        _quern.set_cache_capacity_bytes(memory_bytes)
    if disk_bytes is not None:
        _quern.set_disk_cache_capacity(disk_bytes)


def clear():
    """Forgets the kernels in memory: those of the cache, and those that the functions of this package keep."""
    _functions.clear()
    _rnn.clear()
    capacity = _quern.cache_capacity()
    _quern.set_cache_capacity(0)
    _quern.set_cache_capacity(capacity)


def prewarm(problems):
    """Brings the kernels of problems, lines or quern.Problem, into the caches. Ctrl-C ends it between two."""
    for problem in problems:
        _quern.Kernel(_quern.Descriptor.from_text(getattr(problem, "text", problem)))


def listing():
    """What is on disk, as `quern cache list` prints it."""
    return _command.run(["cache", "list", *(["--dir=" + directory()] if directory() else [])])
