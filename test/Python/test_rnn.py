# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares recurrent networks with NumPy in double precision: results, and gradients by central differences."""

import numpy
import pytest
import references
from references import dtype, near

import quern

DIRECTIONS = ["left2right", "right2left", "bidirectional_concat", "bidirectional_sum"]
GATES = {"rnn": 1, "lstm": 4, "gru": 3, "lbr_gru": 3}


def make(draw, cell, direction="left2right", layers=1, sizes=(5, 3, 8, 8), type="float32"):
    """Returns random (x, w, u, bias, h0, c0); `sizes` are (T, N, I, H)."""
    steps, batch, inputs, hidden = sizes
    directions = 2 if direction.startswith("bidirectional") else 1

    def array(*shape, scale=0.5, of=type):
        return (draw.standard_normal(shape) * scale).astype(dtype(of))
    gates = GATES[cell]
    return (array(steps, batch, inputs, scale=1.0), array(layers, directions, inputs, gates, hidden),
            array(layers, directions, hidden, gates, hidden),
            array(layers, directions, gates + (cell == "lbr_gru"), hidden, of="float32"),
            array(layers, directions, batch, hidden),
            array(layers, directions, batch, hidden, of="float32") if cell == "lstm" else None)


def forward(cell, x, w, u, bias=None, h0=None, c0=None, **rest):
    """Calls the function of the cell and returns (y, h, c or None[, workspace])."""
    if cell == "lstm":
        return quern.lstm(x, w, u, bias, h0, c0, **rest)
    if cell == "rnn":
        results = quern.rnn(x, w, u, bias, h0, **rest)
    else:
        results = quern.gru(x, w, u, bias, h0, linear_before_reset=cell == "lbr_gru", **rest)
    return (*results[:2], None, *results[2:])


def layer(cell, w, u, bias, **rest):
    if cell == "lstm":
        return quern.LSTM(w, u, bias, **rest)
    if cell == "rnn":
        return quern.RNN(w, u, bias, **rest)
    return quern.GRU(w, u, bias, linear_before_reset=cell == "lbr_gru", **rest)


@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_forward(draw, cell, direction):
    for layers, states in [(1, True), (2, True), (1, False)]:
        x, w, u, bias, h0, c0 = make(draw, cell, direction, layers)
        if not states:
            h0 = c0 = None
        expected = references.rnn(cell, x, w, u, bias, h0, c0, direction=direction)
        results = forward(cell, x, w, u, bias, h0, c0, direction=direction)
        for got, wanted in zip(results, expected):
            if got is not None:
                near(got, wanted, roundings=64)
        packed = layer(cell, w, u, bias, direction=direction)
        again = packed(x, h0, c0) if cell == "lstm" else packed(x, h0)
        for got, wanted in zip(again, expected):
            near(got, wanted, roundings=64)


@pytest.mark.parametrize("cell", GATES)
def test_lengths_and_layouts(draw, cell):
    x, w, u, bias, h0, c0 = make(draw, cell, sizes=(6, 4, 8, 8))
    lengths = numpy.array([6, 0, 3, 1], numpy.int32)
    expected = references.rnn(cell, x, w, u, bias, h0, c0, lengths)
    # Now the batch is the outermost dim in memory, and weights have PyTorch's layout: output channels are rows.
    x = numpy.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1)
    w, u = (numpy.ascontiguousarray(a.transpose(0, 1, 3, 4, 2)).transpose(0, 1, 4, 2, 3) for a in (w, u))
    results = forward(cell, x, w, u, bias, h0, c0, lengths=lengths)
    for got, wanted in zip(results, expected):
        if got is not None:
            near(got, wanted, roundings=64)
    packed = layer(cell, w, u, bias)
    again = packed(x, h0, c0, lengths=lengths) if cell == "lstm" else packed(x, h0, lengths=lengths)
    assert all(numpy.array_equal(a, b) for a, b in zip(again, results) if b is not None)


def test_narrow_types(draw):
    for type in ["bfloat16", "float16"]:
        x, w, u, bias, h0, c0 = make(draw, "lstm", type=type)
        expected = references.rnn("lstm", x, w, u, bias, h0.astype(float), c0)
        y, h, c = quern.lstm(x, w, u, bias, h0, c0)
        assert (y.dtype, h.dtype, c.dtype) == (dtype(type), dtype(type), numpy.float32)
        near(y, expected[0], roundings=4)
        numpy.testing.assert_allclose(c, expected[2], atol=0.05)


@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("direction", ["left2right", "bidirectional_concat"])
def test_gradients(draw, cell, direction):
    x, w, u, bias, h0, c0 = make(draw, cell, direction, sizes=(4, 2, 3, 3))
    y, h, c, workspace = forward(cell, x, w, u, bias, h0, c0, direction=direction, training=True)
    dy, dh = draw.standard_normal(y.shape).astype("f"), draw.standard_normal(h.shape).astype("f")
    dc = None if c is None else draw.standard_normal(c.shape).astype("f")
    gradients = quern.rnn_backward(cell, x, w, u, y, h, workspace, dy, c=c, bias=bias, h0=h0, c0=c0, dh=dh, dc=dc,
                                   direction=direction)
    values = {"x": x, "w": w, "u": u, "bias": bias, "h0": h0, "c0": c0}
    assert set(gradients) == {name for name, value in values.items() if value is not None}

    def loss(name, at, step):
        changed = {key: None if value is None else value.astype(float) for key, value in values.items()}
        changed[name].flat[at] += step
        results = references.rnn(cell, **changed, direction=direction)
        return sum((result * weight).sum() for result, weight in zip(results, (dy, dh, dc)) if weight is not None)
    for name, gradient in gradients.items():
        assert gradient.shape == values[name].shape
        for at in draw.integers(0, gradient.size, 6):
            slope = (loss(name, at, 1e-5) - loss(name, at, -1e-5)) / 2e-5
            assert abs(gradient.flat[at] - slope) <= 1e-4 * max(1, abs(slope)), (name, at)


def test_wanted_gradients(draw):
    x, w, u, bias, h0, c0 = make(draw, "lstm")
    y, h, c, workspace = quern.lstm(x, w, u, bias, h0, c0, training=True)
    rest = {"c": c, "bias": bias, "h0": h0, "c0": c0}
    every = quern.rnn_backward("lstm", x, w, u, y, h, workspace, y, **rest)
    some = quern.rnn_backward("lstm", x, w, u, y, h, workspace, y, **rest, wanted=("u", "x"))
    assert set(some) == {"x", "u"} and all(numpy.array_equal(every[name], some[name]) for name in some)


def test_weights_of_pytorch(draw):
    """Compares with the equations of PyTorch's documentation of RNN, LSTM and GRU."""
    inputs, hidden = 3, 4
    for cell, gates in [("lstm", 4), ("lbr_gru", 3), ("rnn", 1)]:
        ih, hh = draw.standard_normal((gates * hidden, inputs)), draw.standard_normal((gates * hidden, hidden))
        bih, bhh = draw.standard_normal(gates * hidden), draw.standard_normal(gates * hidden)
        x, state = draw.standard_normal(inputs), draw.standard_normal(hidden)
        left, right = ih @ x + bih, hh @ state + bhh
        parts, states = left.reshape(gates, -1), right.reshape(gates, -1)
        cells = draw.standard_normal(hidden)
        if cell == "lstm":
            i, f, g, o = parts + states
            after = references.sigmoid(f) * cells + references.sigmoid(i) * numpy.tanh(g)
            expected = references.sigmoid(o) * numpy.tanh(after)
        elif cell == "rnn":
            expected = numpy.tanh(parts + states)[0]
        else:
            r, z = references.sigmoid(parts[0] + states[0]), references.sigmoid(parts[1] + states[1])
            expected = (1 - z) * numpy.tanh(parts[2] + r * states[2]) + z * state
        w, u, bias = (a.astype("f") for a in quern.weights(cell, ih, hh, bih, bhh))
        got = forward(cell, x[None, None].astype("f"), w, u, bias, state[None, None, None].astype("f"),
                      cells[None, None, None].astype("f") if cell == "lstm" else None)
        near(got[0][0, 0], expected, roundings=64)


def test_out(draw):
    x, w, u, bias, h0, c0 = make(draw, "lstm")
    y = numpy.zeros((5, 3, 8), numpy.float32)
    results = quern.lstm(x, w, u, bias, h0, c0, out=(y, None, None))
    assert results[0] is y and numpy.array_equal(y, quern.lstm(x, w, u, bias, h0, c0)[0])


def test_what_does_not_fit(draw):
    x, w, u, bias, h0, c0 = make(draw, "lstm")
    for call, part in [(lambda: quern.lstm(x[0], w, u), "3"), (lambda: quern.lstm(x, w, u, direction="up"), "up"),
                       (lambda: quern.lstm(x, w, u, h0=h0[:, :, :1], c0=c0), "rnn C"),
                       (lambda: quern.gru(x, w, u), "rnn C")]:
        with pytest.raises(quern.Error, match=part) as caught:
            call()
        assert caught.value.status == "invalid_arguments"
