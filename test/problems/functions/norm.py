# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of norm.mlir for peers in Python."""


def layer_norm_1024x768(xp, x, gain, shift):
    return xp.layer_norm(x, gain, shift, 1e-5)


layer_norm_4096x1024 = layer_norm_1024x768
