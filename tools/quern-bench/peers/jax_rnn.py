# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RNNs in JAX as its users write them: one product for all of x, then lax.scan over the steps."""

import jax
import jax.numpy as jnp

import driver
from jax_types import TYPES
from rnn import Rnn

ACTIVATIONS = {"eltwise_relu": jax.nn.relu, "eltwise_tanh": jnp.tanh, "eltwise_logistic": jax.nn.sigmoid}


def product(x, weights):
    return jnp.matmul(x, weights, preferred_element_type=jnp.float32)


def vanilla(rnn, states, x, weights, attention):
    (h,) = states
    return (driver.pick(ACTIVATIONS, rnn.activation)(x + product(h, weights)).astype(h.dtype),)


def lstm(rnn, states, x, weights, attention):
    h, c = states
    i, f, candidate, o = jnp.split(x + product(h, weights), 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(candidate)
    return (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(h.dtype), c


def gru(rnn, states, x, weights, attention):
    (h,) = states
    hidden = h.shape[-1]
    ofGates, ofCandidate = x[..., : 2 * hidden], x[..., 2 * hidden :]
    if rnn.cell.startswith("lbr"):
        sums = product(h, weights)
        u, r = jnp.split(jax.nn.sigmoid(ofGates + sums[..., : 2 * hidden]), 2, axis=-1)
        candidate = jnp.tanh(ofCandidate + r * sums[..., 2 * hidden :])
    else:
        u, r = jnp.split(jax.nn.sigmoid(ofGates + product(h, weights[:, : 2 * hidden])), 2, axis=-1)
        candidate = jnp.tanh(ofCandidate + product((r * h).astype(h.dtype), weights[:, 2 * hidden :]))
    if attention is not None:
        u = (1 - attention) * u
    return ((u * h + (1 - u) * candidate).astype(h.dtype),)


CELLS = {"vanilla_rnn": vanilla, "vanilla_lstm": lstm, "vanilla_gru": gru, "lbr_gru": gru, "vanilla_augru": gru,
         "lbr_augru": gru}


def forwardFunction(rnn):
    """Returns a function that computes h of the last layer and the last states of every layer and direction.

    Its arguments are x [T, N, C], the parameters and first states of every layer and direction, and the attention or
    None."""
    cell = driver.pick(CELLS, rnn.cell)

    def function(x, parameters, states, attention):
        lasts = []
        for layer in range(rnn.layers):
            made = []
            for direction in range(rnn.directions):
                ofLayer, ofIter, bias = parameters[layer * rnn.directions + direction]

                def step(carry, given, ofIter=ofIter):
                    carry = cell(rnn, carry, given[0], ofIter, given[1] if attention is not None else None)
                    return carry, carry[0]

                given = (product(x, ofLayer) + bias, attention)
                last, h = jax.lax.scan(step, states[layer * rnn.directions + direction], given, reverse=direction == 1)
                made.append(h)
                lasts.append(last)
            x = made[0] if len(made) == 1 else made[0] + made[1] if rnn.sums else jnp.concatenate(made, axis=-1)
        return x, lasts

    return function


def prepare(problem):
    rnn = Rnn(problem)
    dtype = driver.pick(TYPES, rnn.type)
    stacks = [layer for layer in range(rnn.layers) for _ in range(rnn.directions)]
    width = rnn.gates * rnn.hidden
    parameters = [(jnp.asarray(rnn.values(rnn.widthOf(layer), width), dtype),
                   jnp.asarray(rnn.values(rnn.hidden, width), dtype), jnp.zeros(width, jnp.float32))
                  for layer in stacks]
    start = jnp.zeros((rnn.batch, rnn.hidden), dtype)
    states = [(start, start.astype(jnp.float32)) if rnn.cell == "vanilla_lstm" else (start,) for _ in stacks]
    x = jnp.asarray(driver.normalValues((rnn.steps, rnn.batch, rnn.channels)), dtype)
    attention = jnp.full((rnn.steps, rnn.batch, 1), 0.5, jnp.float32) if "attention" in rnn.tensors else None
    inputs = (x, parameters, states, attention)
    forward = forwardFunction(rnn)
    if rnn.timed == "inference":
        return forward, inputs
    training = lambda *given: jax.vjp(forward, *given)  # noqa: E731
    if rnn.timed == "training":
        return training, inputs
    results, pullback = jax.jit(training)(*inputs)
    return lambda pull, gradients: pull(gradients), (pullback, results)
