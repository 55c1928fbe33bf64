# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of softmaxes.mlir for peers in Python."""


def softmax_mask_scale(xp, x, mask):
    return xp.softmax(x * 0.125 + mask[:, None, :], -1)


def log_softmax(xp, x):
    d = x - xp.max(x, -1)
    return d - xp.log(xp.sum(xp.exp(d), -1))


def cross_entropy(xp, x, wanted):
    return xp.sum(xp.sum(-log_softmax(xp, x) * wanted, -1), 0) / 24


def masked_mean(xp, x, mask):
    w = xp.abs(mask)[..., None]
    return xp.sum(x * w, 1) / xp.atLeast(xp.sum(w, 1), 1e-9)
