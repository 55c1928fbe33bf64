# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of reductions.mlir for peers in Python."""


def sum_of_two_axes(xp, x):
    return xp.sum(xp.sum(x, 2), 0)


def dot(xp, x, y):
    return xp.sum(x * y, 0)


def mean_square(xp, x):
    return xp.mean(xp.mean(x * x, 1), 0)
