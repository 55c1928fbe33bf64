# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-learning primitives, compiled for their shapes at run time.

Functions of arrays: softmax, log_softmax, reorder, astype, transpose, eltwise, binary, sum, concat, matmul, rnn, lstm,
gru, and the gradients of softmax, eltwise and the recurrent functions. They read arrays of NumPy, PyTorch and JAX
without a copy. quern.Problem covers everything else: any problem in text form, or a function in MLIR. quern.cache and
quern.packs manage kernels. quern.jax and quern.torch are for use within these frameworks.
"""

import collections
import os

from quern import _functions, _objects, _quern, _rnn, cache, packs
from quern._errors import Error
from quern._functions import *  # noqa: F403
from quern._objects import *  # noqa: F403
from quern._rnn import *  # noqa: F403
from quern.problem import Problem

__version__ = ".".join(map(str, _quern.version()[:3]))

Device = collections.namedtuple("Device", "kind name target")
Device.__doc__ = "A device for kernels: its kind (cpu, gpu), its name, and the target of its code."


def devices():
    """Returns a list of Device: the CPU, and the GPUs that Level Zero reports."""
    return [Device(*device) for device in _quern.devices()]


def num_threads():
    """Returns the number of threads of an execution, including the calling thread."""
    return _quern.num_threads()


def set_num_threads(count):
    """Sets the number of threads of later executions, 1 to 4096. Results do not depend on it."""
    _quern.set_num_threads(count)


def set_verbose(level):
    """Prints a line to standard output for each execution (1), also for each compilation and creation (2), or none
    (0)."""
    _quern.set_verbose(level)


def get_include():
    """Returns the folder that contains quern/quern.h, for C and C++ programs that are built with this package."""
    return os.path.join(os.path.dirname(__file__), "include")


__all__ = ["Device", "Error", "Problem", "cache", "devices", "get_include", "num_threads", "packs", "set_num_threads",
           "set_verbose", *_functions.__all__, *_objects.__all__, *_rnn.__all__]
