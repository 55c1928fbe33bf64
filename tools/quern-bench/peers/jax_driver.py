# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on the CPU as a contestant of quern-bench. XLA sizes its thread pool by the process's affinity."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax  # noqa: E402

import driver  # noqa: E402
import jax_functions  # noqa: E402
import jax_reorder  # noqa: E402
import jax_rnn  # noqa: E402
import jax_softmax  # noqa: E402

PRIMITIVES = {"softmax": jax_softmax.prepare, "reorder": jax_reorder.prepare, "rnn": jax_rnn.prepare,
              "mlir": jax_functions.prepare}


class Jax(driver.Contestant):
    def prepare(self, problem):
        function, self.inputs = driver.pick(PRIMITIVES, problem.primitive)(problem)
        self.function = jax.jit(function).lower(*self.inputs).compile()

    def run(self, calls):
        for _ in range(calls):
            jax.block_until_ready(self.function(*self.inputs))


driver.serve(Jax())
