# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax in JAX: converts a problem to a function and its inputs."""

import jax
import jax.numpy as jnp

import driver
from jax_types import TYPES, store, tensor

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


def forwardFunction(problem):
    """Returns a function that computes y of x, the scales by argument, and the operands of post-ops in order."""
    softmax, axis = driver.pick(FORWARD, problem.parameters["algorithm"]), problem.parameters["axis"]
    dtype = TYPES[problem.tensors["dst"]["type"]]
    steps = [(driver.pick(ELTWISE if post["kind"] == "eltwise" else BINARY, post["alg"]), post)
             for post in problem.postOps]

    def function(x, scales, operands):
        y = softmax(x.astype(jnp.float64 if x.dtype == jnp.float64 else jnp.float32), axis=axis)
        if "src" in scales:
            y = y * scales["src"]
        operands = iter(operands)
        for step, post in steps:
            y = step(y, post) if post["kind"] == "eltwise" else step(y, next(operands).astype(y.dtype))
        return store(y / scales["dst"] if "dst" in scales else y, dtype)

    return function


def backwardFunction(problem):
    """Returns a function that computes ds from d and dd by the explicit derivative of softmax."""
    axis, dtype = problem.parameters["axis"], TYPES[problem.tensors["diff_src"]["type"]]
    isLog = driver.pick({"softmax_accurate": False, "softmax_log": True}, problem.parameters["algorithm"])

    def function(d, dd):
        d, dd = (v.astype(jnp.float64 if v.dtype == jnp.float64 else jnp.float32) for v in (d, dd))
        if isLog:
            return store(dd - jnp.exp(d) * jnp.sum(dd, axis=axis, keepdims=True), dtype)
        return store(d * (dd - jnp.sum(dd * d, axis=axis, keepdims=True)), dtype)

    return function


def prepare(problem):
    driver.requireDense(problem, TYPES)
    if problem.parameters["backward"]:
        sources = tuple(tensor(problem.dims, problem.tensors[name]["type"]) for name in ("dst", "diff_dst"))
        return backwardFunction(problem), sources
    operands = [tensor(post["src1"]["dims"], post["src1"]["type"])
                for post in problem.postOps if post["kind"] == "binary"]
    scales = {name: jnp.float32(driver.SCALE) for name in problem.scales}
    return forwardFunction(problem), (tensor(problem.dims, problem.tensors["src"]["type"]), scales, operands)
