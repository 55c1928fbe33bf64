# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of attention.mlir for peers in Python."""


def attention_scores(xp, q, k, mask):
    return xp.matmul(q, k.mT) * 0.176776692 + mask


def attention_values(xp, s, v):
    return xp.matmul(xp.softmax(s, -1), v)


def attention_of_heads(xp, q, k, v, mask):
    return xp.matmul(xp.softmax(xp.matmul(q, k.mT) * 0.25 + mask, -1), v)


def rotary_halves(xp, x, cosine, sine):
    a, b = x[..., :16], x[..., 16:]
    return xp.concat([a * cosine - b * sine, b * cosine + a * sine], -1)
