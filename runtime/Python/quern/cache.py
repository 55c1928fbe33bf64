# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The caches: kernels in memory of this process, and kernels on disk that processes share."""

from quern import _command, _functions, _quern, _rnn


def statistics():
    """Returns hits, misses, stores and sizes since the start as a dict; see quern_cache_statistics_t."""
    return _quern.statistics()


def directory():
    """Returns the directory of the disk cache; "" if it is off."""
    return _quern.disk_cache()


def set_directory(path):
    """Stores kernels in `path`; "" disables it. Raises quern.Error if others may write there, or it is a link."""
    _quern.set_disk_cache(str(path))


def set_capacity(*, kernels=None, memory_bytes=None, disk_bytes=None):
    """Sets limits: kernels and bytes in memory (0 kernels: no memory cache), bytes on disk."""
    if kernels is not None:
        _quern.set_cache_capacity(kernels)
    if memory_bytes is not None:
        _quern.set_cache_capacity_bytes(memory_bytes)
    if disk_bytes is not None:
        _quern.set_disk_cache_capacity(disk_bytes)


def clear():
    """Discards the kernels in memory: those of the cache, and those that the functions of this package keep."""
    _functions.clear()
    _rnn.clear()
    capacity = _quern.cache_capacity()
    _quern.set_cache_capacity(0)
    _quern.set_cache_capacity(capacity)


def prewarm(problems):
    """Fetches or compiles the kernels of problems: lines of text or quern.Problem. Ctrl-C stops it after a kernel."""
    for problem in problems:
        _quern.Kernel(_quern.Descriptor.from_text(getattr(problem, "text", problem)))


def listing():
    """Returns the contents of the disk cache, as printed by `quern cache list`."""
    return _command.run(["cache", "list", *(["--dir=" + directory()] if directory() else [])])
