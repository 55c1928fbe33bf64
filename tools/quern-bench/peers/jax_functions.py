# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations for descriptions of functions, in JAX; and conversion of a problem to a function and its inputs."""

import jax
import jax.numpy as jnp

import functions
from jax_types import TYPES, store


class Operations:
    exp, tanh, sqrt, matmul = jnp.exp, jnp.tanh, jnp.sqrt, jnp.matmul
    maximum, minimum, erf, rsqrt = jnp.maximum, jnp.minimum, jax.lax.erf, jax.lax.rsqrt
    log, abs, concat, atLeast = jnp.log, jnp.abs, jnp.concatenate, jnp.maximum
    sigmoid, relu, softmax = jax.nn.sigmoid, jax.nn.relu, jax.nn.softmax

    @staticmethod
    def sum(x, axis):
        return jnp.sum(x, axis=axis, keepdims=True)

    @staticmethod
    def mean(x, axis):
        return jnp.mean(x, axis=axis, keepdims=True)

    @staticmethod
    def max(x, axis):
        return jnp.max(x, axis=axis, keepdims=True)

    @staticmethod
    def layer_norm(x, gain, shift, epsilon):
        d = x - jnp.mean(x, axis=-1, keepdims=True)
        return d * jax.lax.rsqrt(jnp.mean(d * d, axis=-1, keepdims=True) + epsilon) * gain + shift

    @staticmethod
    def gelu(x):
        return jax.nn.gelu(x, approximate=False)


def prepare(problem):
    inputs = tuple(store(jnp.asarray(values), TYPES[name]) for name, values in functions.inputsOf(problem))
    return functions.describe(problem, Operations), inputs
