# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax_rnn.py: writes the results of JAX for small RNNs to jax-<model>/<tensor>.npy next to
this file, for RnnModelsTest.cpp.

On CPUs, JAX has jax.lax.scan but no RNN, so the cells are defined here, and jax.vjp computes the gradients. Tensors
have the shapes of torch_rnn.py; y is zero after the end of a sequence.
"""
import pathlib

import jax
import jax.numpy as jnp
import numpy

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = numpy.random.default_rng(5)
PRODUCTS = jax.lax.Precision.HIGHEST


def lstm(state, x, w):
    h, c = state
    i, f, g, o = jnp.split(product(x, w["w_ih"]) + w["b_ih"] + product(h, w["w_hh"]) + w["b_hh"], 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru(state, x, w, reset_before=False):
    h, = state
    x_r, x_z, x_n = jnp.split(product(x, w["w_ih"]) + w["b_ih"], 3, axis=1)
    h_r, h_z, h_n = jnp.split(product(h, w["w_hh"]) + w["b_hh"], 3, axis=1)
    r, z = jax.nn.sigmoid(x_r + h_r), jax.nn.sigmoid(x_z + h_z)
    if reset_before:
        h_n = product(r * h, jnp.split(w["w_hh"], 3)[2]) + jnp.split(w["b_hh"], 3)[2]
    else:
        h_n = r * h_n
    return ((1 - z) * jnp.tanh(x_n + h_n) + z * h,)


def gru_reset_before(state, x, w):
    return gru(state, x, w, reset_before=True)


def product(x, weights):
    return jnp.matmul(x, weights.T, precision=PRODUCTS)


def layer(cell, x, state, w, lengths, reverse):
    """Runs all steps of one direction; returns the states after each and the last. Ended sequences keep their state."""
    def step(state, at):
        t, row = at
        goes_on = (t < lengths)[:, None]
        state = tuple(jnp.where(goes_on, new, old) for new, old in zip(cell(state, row, w), state))
        return state, jnp.where(goes_on, state[0], 0)

    last, y = jax.lax.scan(step, state, (jnp.arange(len(x)), x), reverse=reverse)
    return y, last


def stack(cell, given, lengths):
    """Runs all layers; a layer reads both directions of the one below."""
    parameters = [name for name in given if name[:2] in ("w_", "b_")]
    y, lasts = given["x"], []
    layers, directions = given["h0"].shape[:2]
    for l in range(layers):
        rows = []
        for d in range(directions):
            state = tuple(given[name][l, d] for name in ("h0", "c0") if name in given)
            made, last = layer(cell, y, state, {name: given[name][l, d] for name in parameters}, lengths, d == 1)
            rows.append(made)
            lasts.append(last)
        y = jnp.concatenate(rows, axis=2)
    ends = [jnp.stack(state).reshape(layers, directions, *state[0].shape) for state in zip(*lasts)]
    return {"y": y} | dict(zip(("hn", "cn"), ends))


def write(model, cell, gates, layers=1, directions=1, steps=5, batch=3, inputs=6, hidden=4, lengths=None):
    def values(*shape):
        return RANDOM.uniform(-0.7, 0.7, shape).astype(numpy.float32)

    given = {"x": values(steps, batch, inputs), "h0": values(layers, directions, batch, hidden)}
    if cell is lstm:
        given["c0"] = values(layers, directions, batch, hidden)
    given |= {"w_ih": values(layers, directions, gates * hidden, inputs),
              "w_hh": values(layers, directions, gates * hidden, hidden),
              "b_ih": values(layers, directions, gates * hidden), "b_hh": values(layers, directions, gates * hidden)}
    ends = jnp.array(lengths or [steps] * batch)
    tensors = {name: jnp.array(tensor) for name, tensor in given.items()}
    made, backward = jax.vjp(lambda tensors: stack(cell, tensors, ends), tensors)
    of_made = {name: values(*tensor.shape) for name, tensor in made.items()}
    gradients, = backward(of_made)
    tensors = given | made | {f"d_{name}": tensor for name, tensor in (of_made | gradients).items()}
    if lengths:
        tensors["lengths"] = numpy.array(lengths, numpy.int32)
    folder = HERE / f"jax-{model}"
    folder.mkdir(exist_ok=True)
    for name, tensor in tensors.items():
        numpy.save(folder / f"{name}.npy", numpy.asarray(tensor))


write("lstm", lstm, 4)
write("gru", gru, 3)
write("gru-reset-before", gru_reset_before, 3)
write("lstm-lengths", lstm, 4, layers=2, directions=2, inputs=8, lengths=[3, 5, 1])
write("gru-lengths", gru, 3, layers=2, directions=2, inputs=8, lengths=[5, 2, 4])
