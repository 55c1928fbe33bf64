# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-learning primitives, compiled for their shapes at run time.

Functions of arrays: softmax, log_softmax, reorder, astype, transpose, eltwise, binary, sum, concat, matmul, rnn, lstm,
gru, and the gradients of softmax, eltwise and the recurrent ones. They take NumPy's, PyTorch's and JAX's arrays where
they are. quern.Problem has everything else: any problem by its line, or a function in MLIR. quern.cache and quern.packs
look after kernels. quern.jax and quern.torch are for use within these frameworks.
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
Device.__doc__ = "What kernels can run on: kind (cpu, gpu), name, and what code is compiled for."


def devices():
    """The CPU, and the GPUs that Level Zero has: a list of Device."""
    return [Device(*device) for device in _quern.devices()]


def num_threads():
    """Threads of an execution, the calling one included."""
    return _quern.num_threads()


def set_num_threads(count):
    """From now on executions have so many threads, 1 to 4096. Results do not depend on it."""
    _quern.set_num_threads(count)


def set_verbose(level):
    """1: a line on standard output for each execution; 2: for each compilation and creation too; 0: silent."""
    _quern.set_verbose(level)


def get_include():
    """The folder of quern/quern.h, for programs in C and C++ that are built against this package."""
    return os.path.join(os.path.dirname(__file__), "include")


__all__ = ["Device", "Error", "Problem", "cache", "devices", "get_include", "num_threads", "packs", "set_num_threads",
           "set_verbose", *_functions.__all__, *_objects.__all__, *_rnn.__all__]
