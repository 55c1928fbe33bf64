# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations for descriptions of functions, in PyTorch."""

import torch


class Operations:
    exp, tanh, erf, sqrt, rsqrt, matmul = torch.exp, torch.tanh, torch.erf, torch.sqrt, torch.rsqrt, torch.matmul
    sigmoid, relu, maximum, minimum = torch.sigmoid, torch.relu, torch.maximum, torch.minimum
    log, abs, concat, atLeast = torch.log, torch.abs, torch.cat, torch.clamp_min

    @staticmethod
    def sum(x, axis):
        return torch.sum(x, dim=axis, keepdim=True)

    @staticmethod
    def mean(x, axis):
        return torch.mean(x, dim=axis, keepdim=True)

    @staticmethod
    def max(x, axis):
        return torch.amax(x, dim=axis, keepdim=True)

    @staticmethod
    def softmax(x, axis):
        return torch.softmax(x, dim=axis)

    @staticmethod
    def layer_norm(x, gain, shift, epsilon):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, shift, epsilon)

    @staticmethod
    def gelu(x):
        return torch.nn.functional.gelu(x)
