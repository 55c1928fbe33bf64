# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of norms.mlir for peers in Python."""


def group_norm_nchw(xp, x, weight, bias):
    g = x.reshape(2, 6, 4, 30)
    d = g - xp.mean(xp.mean(g, -1), -2)
    y = d * xp.rsqrt(xp.mean(xp.mean(d * d, -1), -2) + 1e-5)
    return (y * weight.reshape(6, 4, 1) + bias.reshape(6, 4, 1)).reshape(2, 24, 5, 6)


def batch_norm_inference(xp, x, mean, variance, weight, bias):
    def channel(v):
        return v[:, None, None]

    return xp.relu((x - channel(mean)) * xp.rsqrt(xp.abs(channel(variance)) + 1e-3) * channel(weight) + channel(bias))


def normalize_length(xp, x):
    return x / xp.atLeast(xp.sqrt(xp.sum(x * x, -1)), 1e-12)
