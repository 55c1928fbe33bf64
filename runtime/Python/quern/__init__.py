# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-learning primitives, compiled for their shapes at run time.

Functions of arrays: softmax, log_softmax, reorder, astype, transpose, eltwise, binary, sum, concat, matmul, rnn, lstm,
gru, and the gradients of softmax, eltwise and the recurrent ones. They take NumPy's, PyTorch's and JAX's arrays where
they are. quern.Problem has everything else: any problem by its line, or a function in MLIR. quern.jax and quern.torch
are for use within these frameworks.
"""

from quern._errors import Error
from quern._functions import *  # noqa: F403
from quern._functions import __all__ as _names

__all__ = ["Error", *_names]
