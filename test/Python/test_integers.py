# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares integer arithmetic with NumPy in 64 bits: results must be exact, and saturated only at the end."""

import numpy
import pytest

import quern

TYPES = ["int32", "int8", "uint8"]
BINARY = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum,
          "ge": numpy.greater_equal, "gt": numpy.greater, "le": numpy.less_equal, "lt": numpy.less,
          "eq": numpy.equal, "ne": numpy.not_equal}


def draw_integers(draw, shape, type):
    """Returns random integers of all magnitudes, with the limits of the type among them."""
    limits = numpy.iinfo(type)
    x = draw.integers(limits.min, limits.max, shape, numpy.int64, endpoint=True) >> draw.integers(0, 31, shape)
    special = numpy.array([limits.min, limits.max, limits.max - 1, 0, 1, 2**24 + 1, 2**24])
    x = numpy.where(draw.random(shape) < 0.3, draw.choice(special, shape), x)
    return numpy.clip(x, limits.min, limits.max).astype(type)


def saturated(x, type):
    limits = numpy.iinfo(type)
    return numpy.clip(x, limits.min, limits.max).astype(type)


@pytest.mark.parametrize("algorithm", BINARY)
def test_binary(draw, algorithm):
    for first in TYPES:
        for second in TYPES:
            x, y = draw_integers(draw, (7, 37), first), draw_integers(draw, (37,), second)
            expected = BINARY[algorithm](x.astype(numpy.int64), y.astype(numpy.int64)).astype(numpy.int64)
            for result in TYPES:
                assert numpy.array_equal(quern.binary(x, y, algorithm, dtype=result), saturated(expected, result))


def test_select(draw):
    x, y = draw_integers(draw, (7, 37), "int32"), draw_integers(draw, (7, 37), "int32")
    where = draw.integers(0, 2, (7, 37)).astype(bool)
    assert numpy.array_equal(quern.binary(x, y, "select", where=where), numpy.where(where, x, y))


@pytest.mark.parametrize("number", [2**31 - 1, -2**31, 16777217, 3, True])
def test_numbers(draw, number):
    x = draw_integers(draw, (5, 33), "int32")
    for algorithm in ("add", "sub", "mul", "max", "min", "eq"):
        expected = BINARY[algorithm](x.astype(numpy.int64), int(number)).astype(numpy.int64)
        assert numpy.array_equal(quern.binary(x, number, algorithm), saturated(expected, "int32"))


def test_sum(draw):
    for types in (["int32"] * 3, ["int8", "int32", "uint8"], ["uint8"] * 5):
        arrays = [draw_integers(draw, (4, 35), type) for type in types]
        for scales in (None, [1, -2, 3, 1, 5][:len(arrays)]):
            expected = sum(scale * array.astype(numpy.int64) for scale, array in zip(scales or [1] * 9, arrays))
            for result in TYPES:
                assert numpy.array_equal(quern.sum(arrays, scales, dtype=result), saturated(expected, result))
    assert quern.sum([numpy.array([16777217], "i"), numpy.array([0], "i")])[0] == 16777217


@pytest.mark.parametrize("algorithm, parameters, function", [
    ("abs", (), numpy.abs), ("square", (), numpy.square), ("round", (), lambda x: x),
    ("relu", (), lambda x: numpy.maximum(x, 0)), ("relu", (3,), lambda x: numpy.where(x > 0, x, 3 * x)),
    ("linear", (2, -7), lambda x: 2 * x - 7), ("clip", (-5, 16777217), lambda x: numpy.clip(x, -5, 16777216))])
def test_eltwise(draw, algorithm, parameters, function):
    for type in TYPES:
        x = draw_integers(draw, (7, 37), type)
        expected = function(x.astype(numpy.int64))
        for result in TYPES:
            assert numpy.array_equal(quern.eltwise(x, algorithm, *parameters, dtype=result),
                                     saturated(expected, result))


def test_help_says_how_integers_are_computed():
    for function in (quern.binary, quern.sum, quern.eltwise):
        assert "exact" in function.__doc__ and "f32" in function.__doc__
