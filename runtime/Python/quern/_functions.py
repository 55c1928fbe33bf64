# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of arrays. Each builds a problem in text form from a call; the plans of earlier calls are cached."""

import builtins
import functools

from quern import _checks, _quern
from quern._arguments import DIFF_DST, DIFF_SRC, DST, MULTIPLE_SRC, SRC, SRC_1, SRC_2, WEIGHTS
from quern._errors import Error
from quern._frameworks import type_name, zeros
from quern._quern import Tensor


def plan(problem, inputs, results):
    """Creates a plan with one kernel.

    Args:
        problem: a line of text, or a Descriptor.
        inputs: the kernel's argument for each array of a call, or -1.
        results: (argument, Tensor) of each result; the Tensor of an absent one is None.
    """
    descriptor = _quern.Descriptor.from_text(problem) if isinstance(problem, str) else problem
    made = [(index, tensor.type, tensor.dims) if tensor else (-1, "", ()) for index, tensor in results]
    return _quern.Plan(_quern.Kernel(descriptor), inputs, made)


def _like(tensor, out, type=None, dims=None):
    """Returns the tensor of a result: `out`, or a dense one with the tensor's dims (or `dims`) and type (or `type`)."""
    return out or Tensor(type or tensor.type, tensor.dims if dims is None else dims)


def _integer(axis):
    """Returns `axis` as an int, so that keys do not depend on its type, such as bool or a NumPy integer."""
    return axis if type(axis) is int else _checks.index("axis", axis)


def _axis(axis, rank):
    if not -rank <= axis < rank:
        raise Error(f"axis is {axis}; an array of {rank} dims allows {-rank} to {rank - 1}")
    return axis % rank


def _name(dtype):
    return None if dtype is None else type_name(dtype)


# --- Softmax ----------------------------------------------------------------------------------------------------------


def _plan_softmax(tensors, outs, axis, algorithm, dtype):
    _checks.arrays(("x",), tensors)
    src = tensors[0]
    dst = _like(src, outs[0], dtype or ("f32" if src.type in _checks.INTEGERS else None))
    axis = _axis(axis, max(len(src.dims), 1))
    line = f"softmax fwd_i alg={algorithm} src={src.text} dst={dst.text} axis={axis}"
    return plan(line, [SRC], [(DST, dst)])


_softmax = _quern.Function(1, 1, _plan_softmax)


def softmax(x, axis=-1, *, dtype=None, out=None):
    """Computes exp(x) / sum(exp(x)) along one axis.

    Args:
        x: array of 0 to 12 dims, of f64, f32, f16, bf16, f8 (e5m2, e4m3fn), s8 or u8, with any strides.
        axis: the axis of the sum, an int; negative counts from the last.
        dtype: type of the result, any of these; by default the type of `x`, or f32 if `x` is of integers.
        out: destination with the shape of `x`, any of these types and any strides; it may be `x`.

    Returns:
        `out`, or a new array with the shape of `x`, in the framework of `x` (NumPy, PyTorch, JAX).

    Raises:
        quern.Error: "invalid_arguments" if the axis or a shape is wrong, or if `out` is read-only or overlaps `x` but
            is not equal to it; "unimplemented" for another type.
        TypeError: `x` is None or `axis` is not an integer.

    >>> quern.softmax(numpy.array([[0, 0, 0, 0]], numpy.float32))
    array([[0.25, 0.25, 0.25, 0.25]], dtype=float32)
    """
    return _softmax(x, out, _integer(axis), "accurate", _name(dtype))


def log_softmax(x, axis=-1, *, dtype=None, out=None):
    """Computes x - log(sum(exp(x))) along one axis. Arguments, result and errors are those of `softmax`."""
    return _softmax(x, out, _integer(axis), "log", _name(dtype))


def _plan_softmax_backward(tensors, outs, axis, algorithm, dtype):
    _checks.arrays(("y", "dy"), tensors)
    y, dy = tensors
    dx = _like(y, outs[0], dtype)
    axis = _axis(axis, max(len(y.dims), 1))
    line = f"softmax bwd_d alg={algorithm} dst={y.text} diff_src={dx.text} diff_dst={dy.text} axis={axis}"
    return plan(line, [DST, DIFF_DST], [(DIFF_SRC, dx)])


_softmax_backward = _quern.Function(2, 1, _plan_softmax_backward)


def softmax_backward(y, dy, axis=-1, *, log=False, dtype=None, out=None):
    """Computes the gradient of the argument of `softmax`, or of `log_softmax` with `log`.

    Args:
        y: the result of `softmax` or `log_softmax`: f64, f32, bf16 or f16.
        dy: its gradient, of the same shape and any of these types.
        axis, dtype, out: see `softmax`; the type is that of `y` by default, and `out` may be `dy` or `y`.

    Returns:
        `out`, or a new array of the shape of `y`.
    """
    return _softmax_backward(y, dy, out, _integer(axis), "log" if log else "accurate", _name(dtype))


# --- Copies -----------------------------------------------------------------------------------------------------------


def _plan_reorder(tensors, outs, axes, dtype):
    _checks.arrays(("x",), tensors)
    src = tensors[0]
    if axes is not None:
        rank = len(src.dims)
        order = list(reversed(range(rank))) if axes == "reversed" else [_axis(axis, rank) for axis in axes]
        if sorted(order) != list(range(rank)):
            raise Error(f"axes are {axes}; they must be a permutation of 0 to {rank - 1}")
        src = Tensor(src.type, [src.dims[axis] for axis in order], [src.strides[axis] for axis in order])
    dst = _like(src, outs[0], dtype)
    return plan(f"reorder src={src.text} dst={dst.text}", [SRC], [(DST, dst)])


_reorder = _quern.Function(1, 1, _plan_reorder)


def reorder(x, *, dtype=None, out=None):
    """Copies `x` to another type or other strides.

    Args:
        x: array of 0 to 12 dims, of f64, f32, f16, bf16, f8, s32, s8 or u8, with any strides.
        dtype: type of the result; by default that of `x`. Values are rounded to nearest even, and saturate in integers.
        out: destination with the shape of `x`, any of these types and any strides.

    Returns:
        `out`, or a new dense array (row-major) of the shape of `x`.

    Raises:
        quern.Error: "invalid_arguments" for shapes that differ or arrays that overlap.
    """
    return _reorder(x, out, None, _name(dtype))


def astype(x, dtype, *, out=None):
    """Returns a dense copy of `x` of type `dtype`; see `reorder`."""
    if dtype is None:
        raise TypeError("dtype is None; it must be a type")
    return _reorder(x, out, None, type_name(dtype))


def transpose(x, axes=None, *, dtype=None, out=None):
    """Returns a dense copy of `x` with permuted axes.

    Args:
        x: see `reorder`.
        axes: the axis of `x` for each axis of the result, as in NumPy; by default in reverse order.
        dtype, out: see `reorder`; the shape is that of the result.
    """
    return _reorder(x, out, "reversed" if axes is None else _checks.indices("axes", axes), _name(dtype))


# --- Elementwise functions --------------------------------------------------------------------------------------------


def _plan_eltwise(tensors, outs, algorithm, alpha, beta, dtype):
    _checks.arrays(("x",), tensors)
    _checks.text("algorithm", algorithm)
    src = tensors[0]
    dst = _like(src, outs[0], dtype)
    line = f"eltwise fwd_i alg={algorithm} alpha={alpha} beta={beta} src={src.text} dst={dst.text}"
    return plan(line, [SRC], [(DST, dst)])


def _plan_eltwise_backward(tensors, outs, algorithm, alpha, beta, dtype):
    _checks.arrays(("x", "dy"), tensors)
    _checks.text("algorithm", algorithm)
    data, dy = tensors
    dx = _like(data, outs[0], dtype)
    is_result = algorithm.endswith("_use_dst_for_bwd")
    line = (f"eltwise bwd_d alg={algorithm} alpha={alpha} beta={beta} {'dst' if is_result else 'src'}={data.text} "
            f"diff_src={dx.text} diff_dst={dy.text}")
    return plan(line, [DST if is_result else SRC, DIFF_DST], [(DIFF_SRC, dx)])


_eltwise = _quern.Function(1, 1, _plan_eltwise)
_eltwise_backward = _quern.Function(2, 1, _plan_eltwise_backward)


def eltwise(x, algorithm, alpha=0.0, beta=0.0, *, dtype=None, out=None):
    """Applies a function to each element.

    Args:
        x: array of 0 to 12 dims, of any type of `reorder`, with any strides.
        algorithm: "relu", "tanh", "elu", "square", "abs", "sqrt", "linear", "soft_relu", "hardsigmoid", "logistic",
            "exp", "gelu_tanh", "gelu_erf", "swish", "log", "clip", "clip_v2", "pow", "round", "mish", "hardswish".
        alpha, beta: the algorithm's parameters (docs/primitives/eltwise.md), f32.
        dtype: type of the result, by default that of `x`.
        out: destination; it may be `x`.

    Returns:
        `out`, or a new array of the shape of `x`.

    If `x` and the result are integers, "abs", "square", "round", "clip", "clip_v2", and "relu" and "linear" with
    integer parameters are exact and saturate to the type of the result. All other functions of integers are computed in
    f32, to which an int32 beyond 2**24 is rounded.

    Raises:
        quern.Error: "invalid_arguments" for an unknown algorithm; "unimplemented" for types that it does not support.
    """
    alpha, beta = _checks.number("alpha", alpha), _checks.number("beta", beta)
    return _eltwise(x, out, algorithm, alpha, beta, _name(dtype))


def eltwise_backward(x, dy, algorithm, alpha=0.0, beta=0.0, *, dtype=None, out=None):
    """Computes the gradient of the argument of `eltwise`.

    Args:
        x: the argument of `eltwise`; its result for an algorithm that ends in "_use_dst_for_bwd" (relu, tanh, elu,
            sqrt, logistic, exp and clip_v2). f64, f32, bf16 or f16.
        dy: the gradient of the result, of the same shape.
        algorithm, alpha, beta, dtype, out: see `eltwise`; `out` may be `dy`.
    """
    alpha, beta = _checks.number("alpha", alpha), _checks.number("beta", beta)
    return _eltwise_backward(x, dy, out, algorithm, alpha, beta, _name(dtype))


def _aligned_ranks(tensors):
    """Returns the tensors with leading dims of size 1, so that all have the highest rank."""
    rank = max(len(tensor.dims) for tensor in tensors)
    grown = []
    for tensor in tensors:
        missing = rank - len(tensor.dims)
        grown.append(Tensor(tensor.type, (1,) * missing + tensor.dims, (1,) * missing + tensor.strides))
    return grown


def _expanded(tensor, dims):
    """Returns the tensor with `dims`; the stride of a dim of size 1 becomes 0."""
    return Tensor(tensor.type, dims, [0 if size == 1 else step for size, step in zip(tensor.dims, tensor.strides)])


def _broadcast(tensors):
    """Returns the dims according to NumPy's rules for broadcasting."""
    dims = []
    for sizes in zip(*(tensor.dims for tensor in tensors)):
        size = next((size for size in sizes if size != 1), 1)
        if any(other not in (1, size) for other in sizes):
            raise Error(f"arrays of {', '.join(str(tensor.dims) for tensor in tensors)} do not broadcast")
        dims.append(size)
    return tuple(dims)


def _plan_binary(tensors, outs, algorithm, dtype):
    _checks.arrays(("x", "y", "where") if algorithm == "select" else ("x", "y"), tensors)
    _checks.text("algorithm", algorithm)
    given = [tensor for tensor in tensors if tensor is not None]
    rank = max(len(tensor.dims) for tensor in given)
    given = _aligned_ranks(given)
    dims = _broadcast(given)
    dst = _like(given[0], outs[0], dtype, dims)
    if len(dst.dims) != rank:
        raise Error(f"out has {len(dst.dims)} dims; the result has {rank}")
    line = (f"binary alg={algorithm} src={_expanded(given[0], dims).text} src1={given[1].text} "
            + (f"src2={given[2].text} " if len(given) == 3 else "") + f"dst={dst.text}")
    return plan(line, [SRC, SRC_1, SRC_2 if len(given) == 3 else -1], [(DST, dst)])


_binary = _quern.Function(3, 1, _plan_binary)


def binary(x, y, algorithm="add", *, where=None, dtype=None, out=None):
    """Applies a function of two arrays elementwise.

    Args:
        x, y: arrays that broadcast as in NumPy, of any types of `reorder`, with any strides. One of the two may be a
            Python number or a NumPy scalar: it is converted to the type of the other array.
        algorithm: "add", "sub", "mul", "div", "max", "min", "ge", "gt", "le", "lt", "eq", "ne" (1 if true, else 0) or
            "select" (`x` where `where` is not 0, else `y`).
        where: the condition of "select": s8, u8 or bool.
        dtype: type of the result, by default that of `x`.
        out: destination; it may be `x`.

    Returns:
        `out`, or a new array with the broadcast shape.

    If the arrays and the result are integers, every algorithm except "div" is exact and saturates to the type of the
    result. Otherwise integers become f32 (f64 if an array is f64), to which an int32 beyond 2**24 is rounded.

    Raises:
        quern.Error: "invalid_arguments" if shapes do not broadcast, or `where` does not match `algorithm`.
        TypeError: an array is None, or a number does not fit the type of the other array.
    """
    if isinstance(x, _checks.NUMBERS):
        x = _checks.element("x", x, y)
    elif isinstance(y, _checks.NUMBERS):
        y = _checks.element("y", y, x)
    return _binary(x, y, where, out, algorithm, _name(dtype))


# --- Several arrays ---------------------------------------------------------------------------------------------------


def _plan_sum(tensors, outs, scales, dtype):
    _checks.arrays((f"arrays[{i}]" for i in range(len(tensors))), tensors)
    dst = _like(tensors[0], outs[0], dtype)
    factors = ",".join(str(scale) for scale in scales)
    sources = ",".join(tensor.text for tensor in tensors)
    return plan(f"sum scales={factors} srcs={sources} dst={dst.text}",
                [MULTIPLE_SRC + i for i in range(len(tensors))], [(DST, dst)])


def _plan_concat(tensors, outs, axis, dtype):
    _checks.arrays((f"arrays[{i}]" for i in range(len(tensors))), tensors)
    first = tensors[0]
    axis = _axis(axis, len(first.dims))
    dims = list(first.dims)
    dims[axis] = builtins.sum(tensor.dims[axis] for tensor in tensors if len(tensor.dims) == len(dims))
    dst = _like(first, outs[0], dtype, dims)
    sources = ",".join(tensor.text for tensor in tensors)
    return plan(f"concat axis={axis} srcs={sources} dst={dst.text}",
                [MULTIPLE_SRC + i for i in range(len(tensors))], [(DST, dst)])


@functools.cache
def _of_several(count, build):
    return _quern.Function(count, 1, build)


def _several(build, arrays, out, *parameters):
    arrays = _checks.items("arrays", arrays)
    if not 1 <= len(arrays) <= 1024:
        raise Error(f"there are {len(arrays)} arrays; 1 to 1024 are possible")
    return _of_several(len(arrays), build)(*arrays, out, *parameters)


def sum(arrays, scales=None, *, dtype=None, out=None):  # pylint: disable=redefined-builtin
    """Adds arrays of one shape, each multiplied by its scale.

    Args:
        arrays: 1 to 1024 arrays of f32, f16, bf16, f8, s32, s8 or u8, with any strides.
        scales: a number for each; by default 1.
        dtype: type of the result, by default that of the first.
        out: destination; it may be the first array.

    If all arrays and the result are integers, and the scales are integers whose absolute values add up to at most
    2**31, the sum is exact and saturates to the type of the result. Otherwise it is computed in f32.
    """
    arrays = _checks.items("arrays", arrays)
    scales = (1.0,) * len(arrays) if scales is None else tuple(
        _checks.number("an element of scales", scale) for scale in _checks.items("scales", scales))
    if len(scales) != len(arrays):
        raise Error(f"there are {len(scales)} scales for {len(arrays)} arrays")
    return _several(_plan_sum, arrays, out, scales, _name(dtype))


def concat(arrays, axis=0, *, dtype=None, out=None):
    """Concatenates arrays along an axis.

    Args:
        arrays: 1 to 1024 arrays of one rank, whose other dims are equal, of any types and strides of `reorder`.
        axis: negative counts from the last.
        dtype: type of the result, by default that of the first.
        out: destination.
    """
    return _several(_plan_concat, arrays, out, _integer(axis), _name(dtype))


# --- Products ---------------------------------------------------------------------------------------------------------


def _collapsed(tensor):
    """Returns the tensor as a matrix: all dims except the last merged, if their strides allow it."""
    dims, strides = tensor.dims, tensor.strides
    rows, step = 1, None
    for size, stride in reversed(list(zip(dims[:-1], strides[:-1]))):
        if size == 1:
            continue
        if step is not None and stride != rows * step:
            raise Error(f"the leading dims of an array of {dims} are not one run of memory: make a dense copy", 3)
        step = stride if step is None else step
        rows *= size
    return Tensor(tensor.type, (rows, dims[-1]), (dims[-1] if step is None else step, strides[-1]))


def _plan_matmul(tensors, outs):
    _checks.arrays(("x", "y"), tensors)
    first, second = tensors
    if len(second.dims) != 2 or len(first.dims) < 1:
        raise Error(f"matmul takes an array of 1 dim or more and a matrix, not {first.dims} and {second.dims}", 3)
    dims = first.dims[:-1] + second.dims[1:]
    dst = _like(first, outs[0], "s32" if first.type in ("s8", "u8") else None, dims)
    if dst.dims != dims:
        raise Error(f"out has dims {dst.dims}; the result has dims {dims}")
    if first.dims[-1] == second.dims[0] == 0 and 0 not in dims:
        return functools.partial(_matmul_of_nothing, first, second)
    line = f"gemm src={_collapsed(first).text} weights={second.text} dst={_collapsed(dst).text}"
    return plan(line, [SRC, WEIGHTS], [(DST, dst)])


_matmul = _quern.Function(2, 1, _plan_matmul)


def _matmul_of_nothing(first, second, x, y, out):
    """Computes a product with K = 0 as a product of zeros with K = 1; the primitive writes nothing if K is 0."""
    return _matmul(zeros(x, first.type, (*first.dims[:-1], 1)), zeros(y, second.type, (1, second.dims[1])), out)


def matmul(x, y, *, out=None):
    """Computes the product of `x` [..., M, K] and the matrix `y` [K, N]; zeros if K is 0.

    Args:
        x, y: both f32; or s8 or u8 and s8. Any strides; the leading dims of `x` must be one run of memory.
        out: destination [..., M, N] of f32, or of s32 for integers; it must not overlap `x` or `y`.

    Returns:
        `out`, or a new array.

    Raises:
        quern.Error: "unimplemented" for other types, and for batches of `y`.
    """
    return _matmul(x, y, out)


FUNCTIONS = [_softmax, _softmax_backward, _reorder, _eltwise, _eltwise_backward, _binary, _matmul]


def clear():
    """Discards the kernels and cached calls of the functions."""
    for function in FUNCTIONS:
        function.clear()
    _of_several.cache_clear()


__all__ = ["softmax", "log_softmax", "softmax_backward", "reorder", "astype", "transpose", "eltwise",
           "eltwise_backward", "binary", "sum", "concat", "matmul"]
