# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of products.mlir for peers in Python."""


def matmul_bias_relu(xp, x, w, b):
    return xp.relu(xp.matmul(x, w) + b)


def matmul_bias_gelu(xp, x, w, b):
    return xp.gelu(xp.matmul(x, w) + b)


def matmul_silu_gate(xp, x, w, v):
    p = xp.matmul(x, w)
    return p * xp.sigmoid(p) * xp.matmul(x, v)


def linear_of_torch(xp, x, w, b):
    return xp.matmul(x, w.mT) + b


def matmul_row_scale_residual(xp, x, w, scale, residual):
    return xp.matmul(x, w) * scale[:, None] + residual


def matmul_transposed_residual(xp, x, w, residual):
    return xp.matmul(x, w) + residual.mT


def batch_matmul_bias(xp, x, w, b):
    return xp.matmul(x, w) + b


def contract_shared(xp, x, w):
    return xp.matmul(x, w)


def matvec_sigmoid(xp, w, x):
    return xp.sigmoid(xp.matmul(w, x))


def vecmat(xp, x, w):
    return xp.matmul(x, w)


def mlp(xp, x, w, b, v, d):
    return xp.matmul(xp.tanh(xp.matmul(x, w) + b), v) + d + x
