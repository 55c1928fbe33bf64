# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on the CPU as a contestant of quern-bench. XLA sizes its thread pool by the process's affinity."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import driver  # noqa: E402

TYPES = {"f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16, "f16": jnp.float16}


class Jax(driver.Contestant):
    def prepare(self, problem):
        driver.requireDense(problem, TYPES)
        function = driver.pick(problem, softmax_accurate=jax.nn.softmax, softmax_log=jax.nn.log_softmax)
        source = jnp.asarray(driver.normalValues(problem), dtype=TYPES[problem.srcType])
        resultType = TYPES[problem.dstType]
        self.source = source
        self.function = jax.jit(lambda x: function(x, axis=problem.axis).astype(resultType)).lower(source).compile()

    def run(self, calls):
        for _ in range(calls):
            self.function(self.source).block_until_ready()


driver.serve(Jax())
