# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on the CPU as a contestant of quern-bench. XLA sizes its thread pool by the process's affinity."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import driver  # noqa: E402

TYPES = {
    "f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16, "f16": jnp.float16, "s8": jnp.int8, "u8": jnp.uint8,
    "f8_e5m2": jnp.float8_e5m2, "f8_e4m3": jnp.float8_e4m3fn,
}
FORWARD = {"softmax_accurate": jax.nn.softmax, "softmax_log": jax.nn.log_softmax}
ELTWISE = {
    "eltwise_relu": lambda x, post: jax.nn.leaky_relu(x, post["alpha"]),
    "eltwise_tanh": lambda x, post: jnp.tanh(x),
    "eltwise_logistic": lambda x, post: jax.nn.sigmoid(x),
    "eltwise_linear": lambda x, post: post["alpha"] * x + post["beta"],
    "eltwise_gelu_erf": lambda x, post: jax.nn.gelu(x, approximate=False),
    "eltwise_gelu_tanh": lambda x, post: jax.nn.gelu(x, approximate=True),
    "eltwise_swish": lambda x, post: x * jax.nn.sigmoid(post["alpha"] * x),
    "eltwise_square": lambda x, post: x * x,
    "eltwise_clip": lambda x, post: jnp.clip(x, post["alpha"], post["beta"]),
}
BINARY = {"binary_add": jnp.add, "binary_mul": jnp.multiply, "binary_max": jnp.maximum, "binary_min": jnp.minimum}


def store(value, dtype):
    if jnp.issubdtype(dtype, jnp.integer):
        limits = jnp.iinfo(dtype)
        value = jnp.rint(jnp.clip(value, limits.min, limits.max))
    return value.astype(dtype)


def forwardFunction(problem):
    """x, scales in order, operands in order -> y."""
    softmax = driver.pick(FORWARD, problem.algorithm)
    dtype = TYPES[problem.tensors["dst"]["type"]]
    steps = [(driver.pick(ELTWISE if post["kind"] == "eltwise" else BINARY, post["alg"]), post) for post in problem.postOps]

    def function(x, scales, operands):
        y = softmax(x.astype(jnp.float64 if x.dtype == jnp.float64 else jnp.float32), axis=problem.axis)
        if "scales.src" in scales:
            y = y * scales["scales.src"]
        operands = iter(operands)
        for step, post in steps:
            y = step(y, post) if post["kind"] == "eltwise" else step(y, next(operands).astype(y.dtype))
        return store(y / scales["scales.dst"] if "scales.dst" in scales else y, dtype)

    return function


def backwardFunction(problem):
    """What automatic differentiation makes of softmax, written out: d and dd -> ds."""
    axis, dtype = problem.axis, TYPES[problem.tensors["diff_src"]["type"]]
    isLog = driver.pick({"softmax_accurate": False, "softmax_log": True}, problem.algorithm)

    def function(d, dd):
        d, dd = (v.astype(jnp.float64 if v.dtype == jnp.float64 else jnp.float32) for v in (d, dd))
        if isLog:
            return store(dd - jnp.exp(d) * jnp.sum(dd, axis=axis, keepdims=True), dtype)
        return store(d * (dd - jnp.sum(dd * d, axis=axis, keepdims=True)), dtype)

    return function


class Jax(driver.Contestant):
    def prepare(self, problem):
        driver.requireDense(problem, TYPES)

        def tensor(dims, name):
            return store(jnp.asarray(driver.normalValues(dims)), TYPES[name])

        if problem.backward:
            self.inputs = tuple(tensor(problem.dims, problem.tensors[name]["type"]) for name in ("dst", "diff_dst"))
            function = backwardFunction(problem)
        else:
            operands = [tensor(post["src1"]["dims"], post["src1"]["type"]) for post in problem.postOps if post["kind"] == "binary"]
            scales = {name: jnp.float32(1.25) for name in problem.scales}
            self.inputs = (tensor(problem.dims, problem.tensors["src"]["type"]), scales, operands)
            function = forwardFunction(problem)
        self.function = jax.jit(function).lower(*self.inputs).compile()

    def run(self, calls):
        for _ in range(calls):
            self.function(*self.inputs).block_until_ready()


driver.serve(Jax())
