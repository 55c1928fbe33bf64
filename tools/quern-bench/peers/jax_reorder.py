# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reorders in JAX: a transposition of the stored dims, with quantization in f32."""

import jax.numpy as jnp

import driver
from jax_types import TYPES, store, tensor


def prepare(problem):
    driver.requirePlainQuantization(problem)
    permutation = driver.storedPermutation(problem)
    src, dst = problem.tensors["src"], problem.tensors["dst"]
    dtype = driver.pick(TYPES, dst["type"])
    scales = {
        name: jnp.full(driver.vectorDims(problem, params), driver.SCALE, jnp.float32)
        for name, params in problem.scales.items()
    }
    zeroPoints = {
        name: jnp.full(driver.vectorDims(problem, params), driver.ZERO_POINT, jnp.int32)
        for name, params in problem.zeroPoints.items()
    }

    def function(x, scales, zeroPoints):
        x = jnp.transpose(x, permutation)
        if not scales and not zeroPoints and x.dtype == dtype:
            return x
        x = x.astype(jnp.float64 if jnp.float64 in (x.dtype, dtype) else jnp.float32)
        if "src" in zeroPoints:
            x = x - zeroPoints["src"]
        if "src" in scales:
            x = x * scales["src"]
        if "dst" in scales:
            x = x / scales["dst"]
        if "dst" in zeroPoints:
            x = x + zeroPoints["dst"]
        return store(x, dtype)

    return function, (tensor(driver.storedDims(src), src["type"]), scales, zeroPoints)
