# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of eltwise.mlir for peers in Python."""


def swish_1024x1024(xp, x):
    return x * xp.sigmoid(x)


def silu_gate_1024x1024(xp, x, gate):
    return x * xp.sigmoid(x) * gate


swish_4096x4096, silu_gate_4096x4096 = swish_1024x1024, silu_gate_1024x1024
