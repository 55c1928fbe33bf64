# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests numbers next to arrays, arguments of a wrong kind, default types, and copies and pickles of objects."""

import copy
import gc
import math
import pickle
import weakref

import numpy
import pytest
from references import dtype, near, softmax
from test_rnn import layer, make

import quern

FLOATS = ["float64", "float32", "float16", "bfloat16"]


# --- Numbers ---


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("number", [2, -3, 0, True, 2.5, 0.1, math.inf, numpy.float32(2.5), numpy.float64(0.1),
                                    numpy.int64(7), numpy.int8(-1), numpy.bool_(True), numpy.float16(0.5),
                                    numpy.array(0.1)[()], dtype("bfloat16").type(0.5)], ids=repr)
def test_numbers_beside_floats(type, number):
    x = numpy.array([[1.5, -2.0, 0.25]], dtype(type))
    weak = dtype(type).type(number)
    for algorithm, function in [("add", numpy.add), ("mul", numpy.multiply), ("max", numpy.maximum),
                                ("gt", numpy.greater)]:
        for result, expected in [(quern.binary(x, number, algorithm), function(x, weak)),
                                 (quern.binary(number, x, algorithm), function(weak, x))]:
            assert result.dtype == dtype(type) and result.shape == x.shape
            assert numpy.array_equal(result, expected.astype(dtype(type)), equal_nan=True)
    assert numpy.isnan(quern.binary(x, math.nan).astype(float)).all()


@pytest.mark.parametrize("type, limits", [("int32", (-2**31, 2**31 - 128)), ("int8", (-128, 127)), ("uint8", (0, 255))])
def test_numbers_beside_integers(type, limits):
    x = numpy.array([1, 2, 3], type)
    for number in (1, 2.0, True, numpy.int64(3), numpy.float32(1.0), numpy.uint8(2)):
        result = quern.binary(x, number, "add")
        assert result.dtype == x.dtype and numpy.array_equal(result, x + int(number))
    for number in limits:
        assert numpy.array_equal(quern.binary(x, number, "max"), numpy.maximum(x, numpy.array(number, type)))
    for number in (numpy.iinfo(type).min - 1, numpy.iinfo(type).max + 1, 2.5, math.nan, math.inf, 10**400,
                   numpy.float64(0.5),
                   numpy.int64(2**40)):
        for call in (lambda: quern.binary(x, number), lambda: quern.binary(number, x)):
            with pytest.raises(TypeError, match=f"does not fit {type}"):
                call()


def test_numbers_that_do_not_fit():
    for type, number in [("float32", 1e300), ("float16", 70000), ("float64", 10**400), ("float32", numpy.float64(1e39)),
                         ("float32", numpy.complex64(1)), ("bfloat16", -1e39)]:
        with pytest.raises(TypeError, match=f"y is .*does not fit {type}"):
            quern.binary(numpy.zeros(3, dtype(type)), number)
    with pytest.raises(quern.Error):
        quern.binary(numpy.zeros(3, numpy.int64), 2)
    with pytest.raises(quern.Error):
        quern.binary(numpy.zeros(3, "f"), 2j)
    assert numpy.array_equal(quern.binary(numpy.zeros(3, bool), True, "add"), numpy.ones(3, numpy.uint8))


def test_numbers_with_a_condition():
    x, where = numpy.array([1.0, 2.0], "f"), numpy.array([True, False])
    assert numpy.array_equal(quern.binary(x, 0, "select", where=where), [1, 0])
    assert numpy.array_equal(quern.binary(0.5, x, "select", where=where), [0.5, 2])
    assert numpy.array_equal(quern.binary(x, 0, "select", where=True), x)


# --- Integers ---


@pytest.mark.parametrize("type", ["int8", "uint8", "bool"])
def test_softmax_of_integers(type):
    x = numpy.array([[1, 0, 3], [0, 1, 1]]).astype(type)
    assert quern.softmax(x).dtype == quern.log_softmax(x).dtype == numpy.float32
    near(quern.softmax(x), softmax(x, -1))
    assert quern.softmax(x, dtype="int8").dtype == numpy.int8
    out = numpy.zeros(x.shape, numpy.uint8)
    assert quern.softmax(x, out=out) is out


# --- Arguments of a wrong kind ---


X, PAIR = numpy.zeros((2, 3), "f"), [numpy.zeros((2, 3), "f")] * 2
W = numpy.zeros((1, 1, 3, 4, 3), "f")
S = numpy.zeros((5, 2, 3), "f")
WRONG = [
    (lambda: quern.softmax(None), "x is None"), (lambda: quern.log_softmax(None), "x is None"),
    (lambda: quern.softmax(X, None), "axis is None"), (lambda: quern.softmax(X, (0, 1)), r"axis is \(0, 1\)"),
    (lambda: quern.softmax(X, [1]), r"axis is \[1\]"), (lambda: quern.softmax(X, 1.0), "axis is 1.0"),
    (lambda: quern.softmax(X, "1"), "axis is '1'"), (lambda: quern.log_softmax(X, axis=None), "axis is None"),
    (lambda: quern.softmax_backward(X, None), "dy is None"), (lambda: quern.softmax_backward(None, X), "y is None"),
    (lambda: quern.softmax_backward(X, X, None), "axis is None"), (lambda: quern.reorder(None), "x is None"),
    (lambda: quern.astype(X, None), "dtype is None"), (lambda: quern.astype(None, "f32"), "x is None"),
    (lambda: quern.transpose(None), "x is None"), (lambda: quern.transpose(X, 1), "axes is 1"),
    (lambda: quern.transpose(X, (0, None)), "axes is None"), (lambda: quern.eltwise(None, "relu"), "x is None"),
    (lambda: quern.eltwise(X, None), "algorithm is None"), (lambda: quern.eltwise(X, "relu", None), "alpha is None"),
    (lambda: quern.eltwise(X, "relu", 0, "a"), "beta is 'a'"),
    (lambda: quern.eltwise_backward(X, None, "relu"), "dy is None"),
    (lambda: quern.eltwise_backward(X, X, 3), "algorithm is 3"), (lambda: quern.binary(X, None), "y is None"),
    (lambda: quern.binary(None, X), "x is None"), (lambda: quern.binary(X, X, None), "algorithm is None"),
    (lambda: quern.binary(X, X, "select"), "where is None"), (lambda: quern.binary(2, None), "y is None"),
    (lambda: quern.sum(None), "arrays is None"), (lambda: quern.sum([X, None]), r"arrays\[1\] is None"),
    (lambda: quern.sum(PAIR, 2), "scales is 2"), (lambda: quern.sum(PAIR, (1, None)), "scales is None"),
    (lambda: quern.concat(None), "arrays is None"), (lambda: quern.concat([None, X]), r"arrays\[0\] is None"),
    (lambda: quern.concat(PAIR, None), "axis is None"), (lambda: quern.concat(PAIR, (0,)), r"axis is \(0,\)"),
    (lambda: quern.matmul(None, X), "x is None"), (lambda: quern.matmul(X, None), "y is None"),
    (lambda: quern.lstm(None, W, W), "x is None"), (lambda: quern.lstm(S, None, W), "w is None"),
    (lambda: quern.lstm(S, W, None), "u is None"), (lambda: quern.lstm(S, W, W, direction=None), "direction is None"),
    (lambda: quern.rnn(S, W, W, activation=None), "activation is None"),
    (lambda: quern.rnn(S, W, W, alpha=None), "alpha is None"), (lambda: quern.LSTM(None, W), "w is None"),
    (lambda: quern.LSTM(W, W)(None), "x is None"),
    (lambda: quern.lstm(S, W, W, out=None), "out is None"), (lambda: quern.lstm(S, W, W, out=(S,)), "out has 1"),
    (lambda: quern.LSTM(W, W)(S, out=S), "out has 5"), (lambda: quern.gru(S, W, W, out=(S, S, S)), "out has 3"),
    (lambda: quern.rnn_backward("lstm", S, W, W, None, None, None, None), "y is None"),
    (lambda: quern.rnn_backward(None, S, W, W, S, S, S, S), "cell is None"),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments_are_named(at):
    call, text = WRONG[at]
    with pytest.raises(TypeError, match=text):
        call()


def test_an_axis_of_another_kind_is_not_that_of_a_call_before():
    assert quern.softmax(X, 1).shape == quern.softmax(X, numpy.int64(1)).shape == (2, 3)
    for axis in (1.0, numpy.float32(1)):
        with pytest.raises(TypeError, match="axis"):
            quern.softmax(X, axis)


# --- Copies and pickles ---


def copies(thing):
    return [copy.deepcopy(thing), copy.copy(thing), pickle.loads(pickle.dumps(thing))]


@pytest.mark.parametrize("cell", ["lstm", "gru", "lbr_gru", "rnn"])
@pytest.mark.parametrize("type", ["float32", "bfloat16"])
def test_copies_of_layers(draw, cell, type):
    for direction in ("left2right", "bidirectional_concat"):
        x, w, u, bias, h0, _ = make(draw, cell, direction, type=type)
        for given in (bias, None):
            packed = layer(cell, w, u, given, direction=direction)
            expected = packed(x, None)
            for again in copies(packed):
                assert all(numpy.array_equal(a, b) for a, b in zip(again(x, None), expected))
    projection = draw.standard_normal((1, 1, 8, 4)).astype("f")
    x, w, u, bias, _, _ = make(draw, "lstm")
    peephole = draw.standard_normal((1, 1, 3, 8)).astype("f")
    for options in ({"projection": projection}, {"peephole": peephole}):
        packed = quern.LSTM(w, u[:, :, :4] if "projection" in options else u, bias, **options)
        for again in copies(packed):
            assert all(numpy.array_equal(a, b) for a, b in zip(again(x), packed(x)))


def test_a_layer_keeps_copies(draw):
    x, w, u, bias, _, _ = make(draw, "lstm")
    packed = quern.LSTM(w, u, bias)
    before = packed(x)[0]
    for array in (w, u, bias):
        array[...] = 0
    assert numpy.array_equal(packed(x)[0], before)


def test_a_layer_is_freed(draw):
    x, w, u, bias, _, _ = make(draw, "lstm")
    packed = quern.LSTM(w, u, bias)
    packed(x)
    packed(x[:0])
    alive = weakref.ref(packed)
    del packed
    gc.collect()
    assert alive() is None


def test_copies_of_problems():
    x = numpy.array([[0, 1, 2]], "f")
    line = quern.Problem("softmax fwd_i src=f32:1x3:ab dst=f32:1x3:any axis=1")
    line.run(x)
    module = """
func.func @twice(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %empty = tensor.empty() : tensor<1x3xf32>
  %y = linalg.add ins(%x, %x : tensor<1x3xf32>, tensor<1x3xf32>) outs(%empty : tensor<1x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}
"""
    for problem in (line, quern.Problem.from_mlir(module)):
        for again in copies(problem):
            assert again == problem and numpy.array_equal(again.run(x), problem.run(x))


def test_copies_of_other_objects():
    for thing in (quern.Softmax(axis=0), quern.Eltwise(algorithm="tanh"), quern.Transpose(axes=(1, 0))):
        for again in copies(thing):
            assert repr(again) == repr(thing) and numpy.array_equal(again(X), thing(X))
    problem = quern.Problem("softmax fwd_i src=f32:2x3:ab dst=f32:2x3:ab axis=1")
    for thing in (quern.devices(), problem.arguments, problem.time(repeat=1), problem.dump("emit")):
        assert copies(thing) == [thing] * 3
    error = copies(quern.Error("text", 3))[2]
    assert (str(error), error.status, error.code) == ("text", "unimplemented", 3)
