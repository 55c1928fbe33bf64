# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares models with the layers of quern.jax with the same models in pure JAX."""

import jax
import jax.numpy as jnp
import numpy
from test_jax import close, ours, scan
from letters import TEXT, batches

import quern.jax

def test_characters():
    """Trains an LSTM on characters for 200 steps; the losses must be the same."""
    count, hidden = len(set(TEXT)), 48
    draw = numpy.random.default_rng(4)

    def array(*shape):
        return jnp.asarray((draw.standard_normal(shape) * 0.15).astype("f"))
    start = {"embed": array(count, 32), "w": array(1, 1, 32, 4, hidden), "u": array(1, 1, hidden, 4, hidden),
             "bias": array(1, 1, 4, hidden), "out": array(hidden, count)}

    def loss(layer, softmax, parameters, x, target):
        states = jnp.zeros((1, 1, x.shape[1], hidden))
        y = layer("lstm", parameters["embed"][x], parameters["w"], parameters["u"], parameters["bias"], states,
                  states)[0]
        logs = softmax(y @ parameters["out"])
        return -jnp.take_along_axis(logs, target[..., None], 2).mean()

    losses = []
    for layer, softmax in [(ours, quern.jax.log_softmax), (scan, jax.nn.log_softmax)]:
        @jax.jit
        def train(parameters, x, target, layer=layer, softmax=softmax):
            value, gradients = jax.value_and_grad(lambda p: loss(layer, softmax, p, x, target))(parameters)
            return value, jax.tree.map(lambda p, g: p - 1.0 * g, parameters, gradients)
        parameters, values = start, []
        for x, target in batches(200, 24, 8):
            value, parameters = train(parameters, x, target)
            values.append(float(value))
        losses.append(values)
    assert losses[0][-1] < 0.75 * losses[0][0], "it learns"
    assert max(abs(a - b) for a, b in zip(*losses)) < 1e-3


def test_transformer_block():
    draw = numpy.random.default_rng(5)
    width, heads = 32, 4
    x = jnp.asarray(draw.standard_normal((2, 10, width)).astype("f"))
    weights = {name: jnp.asarray((draw.standard_normal(shape) * 0.2).astype("f"))
               for name, shape in {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width),
                                   "down": (4 * width, width)}.items()}

    def block(softmax, gelu, weights, x):
        def normalized(x):
            return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        q, k, v = jnp.moveaxis((normalized(x) @ weights["qkv"]).reshape(2, 10, 3, heads, -1), 2, 0)
        scores = jnp.einsum("bqhc,bkhc->bhqk", q, k) / numpy.sqrt(width // heads)
        scores = jnp.where(jnp.tril(jnp.ones((10, 10), bool)), scores, -jnp.inf)
        x = x + jnp.einsum("bhqk,bkhc->bqhc", softmax(scores), v).reshape(x.shape) @ weights["out"]
        return x + gelu(normalized(x) @ weights["up"]) @ weights["down"]

    def loss(*functions):
        return jax.jit(jax.value_and_grad(lambda weights: (block(*functions, weights, x) ** 2).mean()))
    close(loss(quern.jax.softmax, lambda x: quern.jax.eltwise(x, "gelu_tanh"))(weights),
          loss(jax.nn.softmax, jax.nn.gelu)(weights))


def test_speech_as_a_stream():
    """A speech detector that processes one sequence in chunks and passes the states to the next chunk."""
    draw = numpy.random.default_rng(6)

    def array(*shape):
        return jnp.asarray((draw.standard_normal(shape) * 0.2).astype("f"))
    sound, w, u, bias = array(40, 1, 64), array(1, 1, 64, 4, 64), array(1, 1, 64, 4, 64), array(1, 1, 4, 64)
    head = array(64)
    step = jax.jit(lambda x, h, c: quern.jax.lstm(x, w, u, bias, h, c))
    h = c = jnp.zeros((1, 1, 1, 64))
    parts = []
    for begin in range(0, 40, 4):
        y, h, c = step(sound[begin:begin + 4], h, c)
        parts.append(jax.nn.sigmoid(jnp.maximum(y, 0) @ head))
    whole, _, _ = scan("lstm", sound, w, u, bias, jnp.zeros((1, 1, 1, 64)))
    close(jnp.concatenate(parts), jax.nn.sigmoid(jnp.maximum(whole, 0) @ head))


def test_forecast():
    """A GRU that reads the history of series of different lengths, and then its own forecasts."""
    draw = numpy.random.default_rng(7)

    def array(*shape):
        return jnp.asarray((draw.standard_normal(shape) * 0.2).astype("f"))
    history, w, u, bias = array(30, 6, 4), array(1, 1, 4, 3, 40), array(1, 1, 40, 3, 40), array(1, 1, 4, 40)
    head, lengths = array(40, 4), jnp.asarray([30, 12, 7, 30, 1, 20], jnp.int32)

    def forecast(layer, history):
        _, h, *_ = layer("lbr_gru", history, w, u, bias, jnp.zeros((1, 1, 6, 40)), lengths=lengths)
        x, values = jnp.tanh(h[0, 0] @ head)[None], []
        for _ in range(8):
            y, h, *_ = layer("lbr_gru", x, w, u, bias, h)
            x = jnp.tanh(y @ head)
            values.append(x)
        return jnp.concatenate(values)
    close(jax.jit(lambda history: forecast(ours, history))(history), forecast(scan, history))
