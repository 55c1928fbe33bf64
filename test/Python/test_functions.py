# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares every function with NumPy in double precision, for several shapes, strides and types."""

import math

import numpy
import pytest
import references
from references import dtype, near

import quern

FLOATS = ["float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"]
SHAPES = [(), (1,), (7,), (3, 5), (1, 16), (4, 3, 33), (2, 3, 4, 5), (2, 1, 3, 1, 2, 2)]
# Memory layouts: each function returns an array with this layout and the elements of the dense array `x`.
STRIDES = {
    "dense": lambda x: x,
    "transposed": lambda x: numpy.ascontiguousarray(x.T).T,
    "every second": lambda x: spread(x, 2, 0),
    "reversed": lambda x: numpy.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x,
    "every second of odd rows": lambda x: spread(x, 2, 1),
    "offset": lambda x: spread(x, 1, 3),
    "misaligned": lambda x: misaligned(x),
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")) if x.dtype.kind == "f" else x,
}


def spread(x, step, offset):
    if x.ndim == 0:
        return x
    wide = numpy.full((*x.shape[:-1], offset + x.shape[-1] * step), 77).astype(x.dtype)
    view = wide[..., offset::step][..., :x.shape[-1]]
    view[...] = x
    return view


def misaligned(x):
    memory = numpy.zeros(x.nbytes + 1, numpy.uint8)
    view = memory[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def numbers(draw, shape, type):
    return (draw.standard_normal(shape) * 2).astype(dtype(type))


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(draw, shape, type):
    x = numbers(draw, shape, type)
    for axis in {-1, 0} if shape else {-1}:
        if shape:
            near(quern.softmax(x, axis), references.softmax(x, axis))
            near(quern.log_softmax(x, axis=axis), references.log_softmax(x, axis))
        else:
            assert quern.softmax(x) == 1 and quern.softmax(x).shape == ()


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("type", ["float32", "bfloat16", "float64"])
def test_strides_in_and_out(draw, type, strides):
    for shape in [(5, 7), (2, 3, 16)]:
        dense = numbers(draw, shape, type)
        x = STRIDES[strides](dense)
        expected = references.softmax(dense, -1)
        near(quern.softmax(x), expected)
        near(quern.softmax(x, 0), references.softmax(dense, 0))
        out = STRIDES[strides](numpy.zeros(shape, dtype(type)))
        assert quern.softmax(dense, out=out) is out
        near(out, expected)
        if strides == "every second":
            assert (out.base if out.base.base is None else out.base.base).ravel()[1] == 77, "gaps are left alone"


def test_results_of_another_type(draw):
    x = numbers(draw, (4, 9), "float32")
    assert quern.softmax(x, dtype="bf16").dtype == dtype("bfloat16")
    near(quern.softmax(x, dtype=numpy.float64), references.softmax(x, -1), floor=2.0**29)
    near(quern.softmax(x, out=numpy.empty((4, 9), numpy.float16)), references.softmax(x, -1))


def test_in_place(draw):
    x = numbers(draw, (4, 9), "float32")
    expected = references.softmax(x, -1)
    quern.softmax(x, out=x)
    near(x, expected)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("type", ["float64", "float32", "bfloat16"])
def test_softmax_backward(draw, type, log):
    x, dy = numbers(draw, (3, 8), "float64"), numbers(draw, (3, 8), type)
    y = (references.log_softmax if log else references.softmax)(x, 1).astype(dtype(type))
    wide, grad = y.astype(float), dy.astype(float)
    if log:
        expected = grad - numpy.exp(wide) * grad.sum(axis=1, keepdims=True)
    else:
        expected = wide * (grad - (grad * wide).sum(axis=1, keepdims=True))
    near(quern.softmax_backward(y, dy, 1, log=log), expected, roundings=16)


@pytest.mark.parametrize("from_type", ["float64", "float32", "float16", "bfloat16", "int32", "int8", "uint8"])
@pytest.mark.parametrize("to_type", ["float32", "float16", "bfloat16", "float8_e4m3fn", "int32", "int8"])
def test_astype(draw, from_type, to_type):
    x = draw.integers(0, 16, (6, 5)).astype(dtype(from_type))
    assert numpy.array_equal(quern.astype(x, dtype(to_type)).astype(float), x.astype(float))


@pytest.mark.parametrize("strides", STRIDES)
def test_copies(draw, strides):
    dense = numbers(draw, (3, 4, 5), "float32")
    x = STRIDES[strides](dense)
    assert numpy.array_equal(quern.reorder(x), dense)
    assert quern.reorder(x).flags.c_contiguous
    assert numpy.array_equal(quern.transpose(x), dense.T)
    assert numpy.array_equal(quern.transpose(x, (1, 2, 0)), dense.transpose(1, 2, 0))
    assert numpy.array_equal(quern.transpose(x, (-1, 0, 1)), dense.transpose(2, 0, 1))
    out = STRIDES[strides](numpy.zeros((5, 4, 3), numpy.float32))
    assert numpy.array_equal(quern.transpose(x, out=out), dense.T) and numpy.array_equal(out, dense.T)


ELTWISE = {
    "relu": lambda x: numpy.maximum(x, 0), "tanh": numpy.tanh, "square": numpy.square, "abs": numpy.abs,
    "logistic": references.sigmoid, "exp": numpy.exp, "round": numpy.round,
    "swish": lambda x: x * references.sigmoid(x),
    "gelu_erf": lambda x: x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "soft_relu": lambda x: numpy.log1p(numpy.exp(x)), "mish": lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x))),
}
PARAMETERS = {"swish": (1.0,), "soft_relu": (1.0,)}


@pytest.mark.parametrize("algorithm", ELTWISE)
def test_eltwise(draw, algorithm):
    for type in ["float32", "bfloat16"]:
        x = numbers(draw, (3, 17), type)
        near(quern.eltwise(x, algorithm, *PARAMETERS.get(algorithm, ())), ELTWISE[algorithm](x.astype(float)))
    x = numbers(draw, (), "float32")
    near(quern.eltwise(x, algorithm, *PARAMETERS.get(algorithm, ())), ELTWISE[algorithm](x.astype(float)))


@pytest.mark.parametrize("algorithm", ["tanh", "logistic", "swish", "gelu_tanh", "square", "exp"])
def test_eltwise_backward(draw, algorithm):
    x, dy = numbers(draw, (5, 9), "float64").astype(numpy.float32), numbers(draw, (5, 9), "float32")
    step, wide = 1e-5, x.astype(float)
    slope = (ELTWISE[algorithm](wide + step) - ELTWISE[algorithm](wide - step)) / (2 * step)
    near(quern.eltwise_backward(x, dy, algorithm, *PARAMETERS.get(algorithm, ())), slope * dy, roundings=64)
    if algorithm in ("tanh", "logistic", "exp"):
        y = quern.eltwise(x, algorithm)
        near(quern.eltwise_backward(y, dy, algorithm + "_use_dst_for_bwd"), slope * dy, roundings=64)


BINARY = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide, "max": numpy.maximum,
          "min": numpy.minimum, "ge": numpy.greater_equal, "gt": numpy.greater, "le": numpy.less_equal,
          "lt": numpy.less, "eq": numpy.equal, "ne": numpy.not_equal}
PAIRS = [((3, 4), (3, 4)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)), ((), (5,)),
         ((5,), ()), ((), ())]


@pytest.mark.parametrize("algorithm", BINARY)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_binary(draw, algorithm, shapes):
    x, y = (draw.integers(-3, 4, shape).astype(numpy.float32) + 0.5 for shape in shapes)
    x, y = numpy.asarray(x), numpy.asarray(y)
    near(quern.binary(x, y, algorithm), BINARY[algorithm](x, y).astype(float), roundings=1)


def test_select(draw):
    x, y = numbers(draw, (3, 4), "float32"), numbers(draw, (4,), "float32")
    where = draw.integers(0, 2, (3, 1)).astype(bool)
    assert numpy.array_equal(quern.binary(x, y, "select", where=where), numpy.where(where, x, y))


def test_sum(draw):
    arrays = [numbers(draw, (4, 5), type) for type in ("float32", "bfloat16", "float16")]
    expected = sum(scale * array.astype(float) for scale, array in zip((1, 0.5, -2), arrays))
    near(quern.sum(arrays, (1, 0.5, -2)), expected)
    near(quern.sum(arrays[:1] * 3), 3 * arrays[0].astype(float))


def test_concat(draw):
    arrays = [numbers(draw, (4, size, 3), "float32") for size in (1, 5, 2)]
    assert numpy.array_equal(quern.concat(arrays, 1), numpy.concatenate(arrays, 1))
    assert numpy.array_equal(quern.concat([a.swapaxes(1, 2) for a in arrays], -1),
                             numpy.concatenate([a.swapaxes(1, 2) for a in arrays], -1))


def test_matmul(draw):
    for m, k, n in [(1, 1, 1), (3, 4, 5), (17, 64, 33)]:
        x, y = numbers(draw, (m, k), "float32"), numbers(draw, (k, n), "float32")
        near(quern.matmul(x, y), x.astype(float) @ y.astype(float), floor=4 * k)
        near(quern.matmul(numpy.asfortranarray(x), y.T.copy().T), x.astype(float) @ y.astype(float), floor=4 * k)
    x = numbers(draw, (2, 3, 8), "float32")
    near(quern.matmul(x, y[:8]), x.astype(float) @ y[:8].astype(float), floor=32)
    near(quern.matmul(x[0, 0], y[:8]), x[0, 0].astype(float) @ y[:8].astype(float), floor=32)
    x, y = draw.integers(-128, 128, (6, 32)).astype(numpy.int8), draw.integers(-128, 128, (32, 5)).astype(numpy.int8)
    assert numpy.array_equal(quern.matmul(x, y), x.astype(numpy.int32) @ y.astype(numpy.int32))


def test_empty_arrays():
    assert quern.softmax(numpy.zeros((0, 5), numpy.float32)).shape == (0, 5)
    assert quern.concat([numpy.zeros((0, 5), numpy.float32), numpy.ones((2, 5), numpy.float32)]).shape == (2, 5)


def test_lists_are_arrays():
    near(quern.softmax([[0.0, 0.0]]), numpy.full((1, 2), 0.5))


def test_objects(draw):
    x = numbers(draw, (4, 9), "float32")
    assert numpy.array_equal(quern.Softmax(axis=0)(x), quern.softmax(x, 0))
    assert numpy.array_equal(quern.Eltwise(algorithm="tanh")(x), quern.eltwise(x, "tanh"))
    assert numpy.array_equal(quern.Binary(algorithm="mul")(x, x, out=numpy.empty_like(x)), x * x)
    assert repr(quern.Transpose(axes=(1, 0))) == "quern.Transpose(axes=(1, 0))"
