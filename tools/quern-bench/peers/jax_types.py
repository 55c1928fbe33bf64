# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of JAX, and stores that round and saturate like Quern's."""

import jax.numpy as jnp

import driver

TYPES = {
    "f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16, "f16": jnp.float16, "s32": jnp.int32,
    "s8": jnp.int8, "u8": jnp.uint8, "f8_e5m2": jnp.float8_e5m2, "f8_e4m3": jnp.float8_e4m3fn,
}


def store(value, dtype):
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        value = jnp.rint(jnp.clip(value, limits.min, limits.max))
    return value.astype(dtype)


def tensor(dims, name):
    return store(jnp.asarray(driver.normalValues(dims)), driver.pick(TYPES, name))
