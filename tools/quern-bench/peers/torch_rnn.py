# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RNNs with torch.nn's layers."""

import torch

import driver
from rnn import Rnn

LAYERS = {"vanilla_lstm": torch.nn.LSTM, "lbr_gru": torch.nn.GRU, "vanilla_rnn": torch.nn.RNN}
ACTIVATIONS = {"eltwise_relu": "relu", "eltwise_tanh": "tanh"}


def prepare(problem, types):
    """Returns a function without arguments. For backward, forward runs once here, and the function keeps its graph."""
    rnn = Rnn(problem)
    kind = driver.pick(LAYERS, rnn.cell)
    if rnn.sums:
        raise ValueError("no sum of directions")
    options = {"nonlinearity": driver.pick(ACTIVATIONS, rnn.activation)} if kind is torch.nn.RNN else {}
    layer = kind(rnn.channels, rnn.hidden, rnn.layers, bidirectional=rnn.directions == 2, **options)
    dtype = driver.pick(types, rnn.type)
    layer = layer.to(dtype)
    x = torch.from_numpy(driver.normalValues((rnn.steps, rnn.batch, rnn.channels))).to(dtype)
    if rnn.timed == "inference":
        layer.eval()

        def infer():
            with torch.inference_mode():
                return layer(x)

        return infer
    x.requires_grad_(True)
    if rnn.timed == "training":
        return lambda: layer(x)
    y, _ = layer(x)
    sources, gradient = [x, *layer.parameters()], torch.ones_like(y)
    return lambda: torch.autograd.grad(y, sources, gradient, retain_graph=True)
