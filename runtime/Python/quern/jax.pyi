# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from typing import Any

from jax import Array
from jax.typing import ArrayLike

def softmax(x: ArrayLike, axis: int = -1, *, donate: bool = False) -> Array: ...
def log_softmax(x: ArrayLike, axis: int = -1, *, donate: bool = False) -> Array: ...
def eltwise(x: ArrayLike, algorithm: str, alpha: float = 0.0, beta: float = 0.0) -> Array: ...
def lstm(
    x: ArrayLike, w: ArrayLike, u: ArrayLike, bias: ArrayLike | None = None, h0: ArrayLike | None = None,
    c0: ArrayLike | None = None, *, peephole: ArrayLike | None = None, projection: ArrayLike | None = None,
    lengths: ArrayLike | None = None, direction: str = "left2right", stacked: bool = False
) -> tuple[Array, Array, Array]: ...
def gru(
    x: ArrayLike, w: ArrayLike, u: ArrayLike, bias: ArrayLike | None = None, h0: ArrayLike | None = None, *,
    linear_before_reset: bool = False, attention: ArrayLike | None = None, lengths: ArrayLike | None = None,
    direction: str = "left2right", stacked: bool = False
) -> tuple[Array, Array]: ...
def rnn(
    x: ArrayLike, w: ArrayLike, u: ArrayLike, bias: ArrayLike | None = None, h0: ArrayLike | None = None, *,
    activation: str = "tanh", alpha: float = 0.0, lengths: ArrayLike | None = None, direction: str = "left2right",
    stacked: bool = False
) -> tuple[Array, Array]: ...
def call(module: str | bytes, *arrays: ArrayLike, function: str | None = None) -> Any: ...
