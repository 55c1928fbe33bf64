# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference functions in NumPy with double precision, and the comparison of results with them."""

import gc
import os

import ml_dtypes
import numpy

# The relative error of one rounding.
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
           "float8_e5m2": 2.0**-2, "float8_e4m3fn": 2.0**-3}


def dtype(name):
    """Returns the dtype with this name, of NumPy or of ml_dtypes."""
    return numpy.dtype(getattr(ml_dtypes, name, name) if name not in ("float32", "float64") else name)


def near(got, expected, roundings=8, floor=1.0):
    """Asserts that |got - expected| <= roundings * EPSILON * max(|expected|, floor); integers must be equal."""
    got = numpy.asarray(got)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    epsilon = EPSILON.get(got.dtype.name)
    wide = got.astype(numpy.float64)
    if epsilon is None:
        assert numpy.array_equal(wide, expected)
        return
    bound = roundings * epsilon * numpy.maximum(numpy.abs(expected), floor)
    worst = numpy.max(numpy.abs(wide - expected) / bound, initial=0)
    assert worst <= 1, f"off by {worst} of what is allowed"


def softmax(x, axis):
    x = numpy.asarray(x).astype(numpy.float64)
    powers = numpy.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax(x, axis):
    x = numpy.asarray(x).astype(numpy.float64)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis=axis, keepdims=True))


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def _step(cell, gates, states, hidden, cells):
    """Returns the states after one time step. `gates` is the part of the gates from the input, of shape [N, G, H];
    `states` is a function that returns the part from a state."""
    if cell == "lstm":
        i, f, g, o = numpy.moveaxis(gates + states(hidden), 1, 0)
        cells = sigmoid(f) * cells + sigmoid(i) * numpy.tanh(g)
        return sigmoid(o) * numpy.tanh(cells), cells
    if cell == "rnn":
        return numpy.tanh(gates + states(hidden))[:, 0], cells
    u, r = (sigmoid(gates[:, k] + states(hidden)[:, k]) for k in (0, 1))
    if cell == "gru":
        o = numpy.tanh(gates[:, 2] + states(r * hidden)[:, 2])
    else:  # lbr_gru: the bias of gate 3 is added to the part from the state
        o = numpy.tanh(gates[:, 2] + r * (states(hidden)[:, 2] + gates[:, 3]))
    return u * hidden + (1 - u) * o, cells


def run_cell(cell, x, w, u, bias, hidden, cells, lengths=None, reverse=False):
    """Runs one layer and direction on x [T, N, I], updating `hidden` and `cells`; returns (y, hidden, cells)."""
    steps, batch, _ = x.shape
    gates = numpy.einsum("tni,igh->tngh", x, w)
    if cell == "lbr_gru":
        gates = numpy.concatenate([gates, numpy.zeros_like(gates[:, :, :1])], axis=2)
    gates = gates + bias
    y = numpy.zeros((steps, batch, hidden.shape[1]))
    lengths = numpy.full(batch, steps) if lengths is None else numpy.clip(lengths, 0, steps)
    for n in range(batch):
        h, c = hidden[n:n + 1], cells[n:n + 1]
        order = range(lengths[n])
        for t in reversed(order) if reverse else order:
            h, c = _step(cell, gates[t, n:n + 1], lambda state: numpy.einsum("nh,hgk->ngk", state, u), h, c)
            y[t, n] = h[0]
        hidden[n], cells[n] = h[0], c[0]
    return y, hidden, cells


def rnn(cell, x, w, u, bias=None, h0=None, c0=None, lengths=None, direction="left2right"):
    """Computes the same as quern.rnn, gru and lstm: (y, h, c). Each direction is a separate stack of layers."""
    x, w, u = (numpy.asarray(array).astype(numpy.float64) for array in (x, w, u))
    layers, directions, _, gates, hidden = w.shape
    batch = x.shape[1]
    bias = numpy.zeros((layers, directions, gates + (cell == "lbr_gru"), hidden)) if bias is None else bias
    h = numpy.zeros((layers, directions, batch, hidden)) if h0 is None else numpy.array(h0, numpy.float64)
    c = numpy.zeros((layers, directions, batch, hidden)) if c0 is None else numpy.array(c0, numpy.float64)
    results = []
    for d in range(directions):
        y = x
        for layer in range(layers):
            y, _, _ = run_cell(cell, y, w[layer, d], u[layer, d], numpy.asarray(bias[layer, d], numpy.float64),
                               h[layer, d], c[layer, d], lengths, d == 1 or direction == "right2left")
        results.append(y)
    if direction == "bidirectional_sum":
        return results[0] + results[1], h, c
    return numpy.concatenate(results, axis=2), h, c


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def keeps_no_memory(call, count=10000):
    """Asserts that `count` calls do not increase the resident memory: a leak in each call would be visible."""
    for _ in range(count // 20):
        call()
    gc.collect()
    before = resident()
    for _ in range(count):
        call()
    gc.collect()
    assert resident() - before < 3 << 20, f"{resident() - before} bytes more"
