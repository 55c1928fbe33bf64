# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of matmul.mlir for peers in Python."""


def gelu_linear_512(xp, x, w, bias):
    return xp.gelu(xp.matmul(x, w) + bias)


gelu_linear_1024 = gelu_linear_2048 = gelu_linear_512
