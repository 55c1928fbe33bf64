# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests arrays with a size of 0: results must be the mathematical ones, never uninitialized memory."""

import itertools

import numpy
import pytest
import references
from test_rnn import GATES, forward, layer, make

import quern


@pytest.fixture(autouse=True)
def dirty():
    """Frees memory that is not zero, so that the next allocations of NumPy get it."""
    for size in (16, 64, 256, 1024, 4096):
        del_ = [numpy.full(size // 4, 7.5, numpy.float32) for _ in range(64)]
        del del_


@pytest.mark.parametrize("types", [("float32", "float32"), ("int8", "int8"), ("uint8", "int8")], ids=str)
def test_products_of_nothing(types):
    for dims, n in itertools.product([(16,), (2, 3), (1, 5, 2), ()], (16, 1)):
        x, y = numpy.zeros((*dims, 0), types[0]), numpy.zeros((0, n), types[1])
        result = quern.matmul(x, y)
        assert result.shape == (*dims, n) and not result.any()
        assert result.dtype == (numpy.float32 if types[0] == "float32" else numpy.int32)
        for _ in range(2):
            out = numpy.full((*dims, n), 7, result.dtype)
            assert quern.matmul(x, y, out=out) is out and not out.any()
    wide = numpy.full((4, 10), 7, numpy.float32)
    quern.matmul(numpy.zeros((4, 0), "f"), numpy.zeros((0, 5), "f"), out=wide[:, ::2])
    assert not wide[:, ::2].any() and (wide[:, 1::2] == 7).all()
    quern.matmul(numpy.zeros((4, 0), "f"), numpy.zeros((0, 5), "f"), out=wide[::-1, 4::-1])
    assert not wide[:, :5].any()


def test_products_without_elements():
    for m, k, n in itertools.product((0, 3), (0, 2), (0, 4)):
        x, y = numpy.ones((m, k), "f"), numpy.ones((k, n), "f")
        assert numpy.array_equal(quern.matmul(x, y), x @ y)
    for x, y in [((3, 0), (2, 4)), ((3, 2), (0, 4)), ((3, 0), (0,))]:
        with pytest.raises(quern.Error):
            quern.matmul(numpy.zeros(x, "f"), numpy.zeros(y, "f"))
    with pytest.raises(quern.Error):
        quern.matmul(numpy.zeros((3, 0), "f"), numpy.zeros((0, 4), "f"), out=numpy.zeros((3, 5), "f"))
    with pytest.raises(quern.Error):
        quern.matmul(numpy.zeros((3, 0)), numpy.zeros((0, 4)))  # f64


EMPTY = [(0, 5), (5, 0), (0,), (2, 0, 3)]


@pytest.mark.parametrize("shape", EMPTY, ids=str)
def test_functions_of_elements(shape):
    x = numpy.zeros(shape, "f")
    assert quern.softmax(x).shape == quern.eltwise(x, "exp").shape == quern.reorder(x).shape == shape
    assert quern.softmax_backward(x, x).shape == quern.eltwise_backward(x, x, "exp").shape == shape
    assert quern.binary(x, x).shape == quern.binary(x, 2).shape == quern.binary(numpy.ones(1, "f"), x).shape == shape
    assert quern.sum([x, x]).shape == quern.astype(x, "int8").shape == shape
    assert quern.transpose(x).shape == shape[::-1]
    assert numpy.array_equal(quern.concat([x, x], -1), numpy.concatenate([x, x], -1))
    whole = numpy.ones((*shape[:-1], 3), "f")
    assert numpy.array_equal(quern.concat([x, whole], -1), numpy.concatenate([x, whole], -1))


SIZES = [(0, 3, 8, 8), (5, 3, 0, 8), (0, 3, 0, 8), (5, 0, 8, 8), (0, 0, 0, 8), (1, 1, 0, 1)]  # T, N, I, H
DIRECTIONS = ["left2right", "right2left", "bidirectional_concat", "bidirectional_sum"]


def is_close(found, expected):
    assert found.shape == expected.shape
    numpy.testing.assert_allclose(numpy.asarray(found, float), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_networks(draw, cell, sizes):
    for direction, states, type in [*((d, True, "float32") for d in DIRECTIONS), ("left2right", False, "float32"),
                                    ("bidirectional_concat", True, "bfloat16")]:
        x, w, u, bias, h0, c0 = make(draw, cell, direction, sizes=sizes, type=type)
        if not states:
            h0 = c0 = None
        expected = references.rnn(cell, x, w, u, bias, h0, c0, direction=direction)
        packed = layer(cell, w, u, bias, direction=direction)
        given = (x, h0, c0) if cell == "lstm" else (x, h0)
        for _ in range(2):
            for results in (forward(cell, x, w, u, bias, h0, c0, direction=direction), packed(*given)):
                for found, wanted in zip(results, expected):
                    if found is not None:
                        numpy.testing.assert_allclose(found.astype(float), wanted, rtol=0.05, atol=0.05)
        out = [numpy.full(r.shape, 7, r.dtype) for r in forward(cell, x, w, u, bias, h0, c0, direction=direction)
               if r is not None]
        results = forward(cell, x, w, u, bias, h0, c0, direction=direction, out=tuple(out))
        for found, target, wanted in zip(results, out, expected):
            assert found is target
            numpy.testing.assert_allclose(target.astype(float), wanted, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_gradients(draw, cell, sizes):
    for direction in DIRECTIONS:
        x, w, u, bias, h0, c0 = make(draw, cell, direction, sizes=sizes)
        y, h, c, workspace = forward(cell, x, w, u, bias, h0, c0, direction=direction, training=True)
        dy, dh = draw.standard_normal(y.shape).astype("f"), draw.standard_normal(h.shape).astype("f")
        dc = None if c is None else draw.standard_normal(c.shape).astype("f")
        found = quern.rnn_backward(cell, x, w, u, y, h, workspace, dy, c=c, bias=bias, h0=h0, c0=c0, dh=dh, dc=dc,
                                   direction=direction)
        for name, value in {"x": x, "w": w, "u": u, "bias": bias, "h0": h0, "c0": c0}.items():
            if value is not None:
                assert found[name].shape == value.shape
        if sizes[0] == 0 and sizes[1] > 0:
            assert not found["u"].any() and not found["bias"].any() and not found["w"].any()
            is_close(found["h0"], dh)
            if c is not None:
                is_close(found["c0"], dc)
        elif sizes[1] > 0:  # equal to the gradients for an input of zeros
            wide = numpy.zeros((*x.shape[:2], 2), "f")
            weights = draw.standard_normal((*w.shape[:2], 2, *w.shape[3:])).astype("f")
            y, h, c, workspace = forward(cell, wide, weights, u, bias, h0, c0, direction=direction, training=True)
            expected = quern.rnn_backward(cell, wide, weights, u, y, h, workspace, dy, c=c, bias=bias, h0=h0, c0=c0,
                                          dh=dh, dc=dc, direction=direction)
            for name in ("u", "bias", "h0") + (("c0",) if c is not None else ()):
                is_close(found[name], expected[name])


def test_projections_and_lengths(draw):
    x, w, u, bias, h0, c0 = make(draw, "lstm", sizes=(0, 3, 8, 8))
    projection, u = draw.standard_normal((1, 1, 8, 4)).astype("f"), u[:, :, :4]
    h0 = h0[..., :4]
    y, h, c = quern.lstm(x, w, u, bias, h0, c0, projection=projection, lengths=numpy.zeros(3, numpy.int32))
    assert y.shape == (0, 3, 4) and numpy.array_equal(h, h0) and numpy.array_equal(c, c0)
    y, h, c = quern.LSTM(w, u, bias, projection=projection)(x, h0, c0)
    assert y.shape == (0, 3, 4) and numpy.array_equal(h, h0) and numpy.array_equal(c, c0)
    with pytest.raises(quern.Error, match="projection"):
        quern.lstm(x, w, u[:, :, :0], bias, h0[..., :0], c0, projection=projection[..., :0])
    attention = numpy.zeros((0, 3, 1), "f")
    w, u = (draw.standard_normal((1, 1, 8, 3, 8)).astype("f") for _ in range(2))
    y, h = quern.gru(x, w, u, bias[:, :, :3], c0, attention=attention)
    assert y.shape == (0, 3, 8) and numpy.array_equal(h, c0)


def test_what_does_not_fit_is_refused(draw):
    x, w, u, bias, h0, c0 = make(draw, "lstm", sizes=(0, 3, 8, 8))
    nothing = numpy.zeros((5, 3, 0), "f")
    for call in (lambda: quern.lstm(nothing, w, u, bias, h0, c0), lambda: quern.lstm(x, w[:, :, :0], u, bias, h0, c0),
                 lambda: quern.lstm(x, w, u, bias, h0[:, :, :2], c0), lambda: quern.LSTM(w, u, bias)(nothing),
                 lambda: quern.LSTM(w[:, :, :0], u, bias)(numpy.zeros((5, 3, 1), "f")),
                 lambda: quern.lstm(x, w, u, bias, h0, c0, lengths=numpy.zeros(4, numpy.int32)),
                 lambda: quern.lstm(x, w, u, bias, h0, c0, out=(numpy.zeros((1, 3, 8), "f"), None, None)),
                 lambda: quern.lstm(x, w, u[..., :4], bias, h0, c0)):
        with pytest.raises(quern.Error):
            call()


def test_problems_return_no_stale_memory():
    result = quern.Problem("gemm src=f32:4x0:ab weights=f32:0x5:ab dst=f32:4x5:ab").run(
        numpy.zeros((4, 0), "f"), numpy.zeros((0, 5), "f"))
    assert result.shape == (4, 5) and not result.any()
