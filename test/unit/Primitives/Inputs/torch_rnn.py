# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_rnn.py: writes torch-<model>/<tensor>.npy beside itself, what PyTorch computes for
small RNNs, for RnnModelsTest.cpp.

Tensors are as PyTorch has them, weights and biases of layers and directions stacked: x [T, N, I], h0, c0, hn, cn
[L, D, N, H], y [T, N, D H], w_ih [L, D, G H, I], w_hh [L, D, G H, H], b_ih, b_hh [L, D, G H]; with a projection w_hr
[L, D, P, H], and P in place of H in x, y, h0, hn and w_hh. A second layer reads D H channels, so that I = D H where
there is one.
"""
import pathlib

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent


def stack(module, name, layers, directions):
    suffixes = ["", "_reverse"][:directions]
    parts = [torch.stack([getattr(module, f"{name}_l{layer}{suffix}") for suffix in suffixes])
             for layer in range(layers)]
    return torch.stack(parts)


def write(model, module, layers=1, directions=1, steps=5, batch=3, inputs=6, hidden=4):
    x = torch.randn(steps, batch, inputs)
    projected = getattr(module, "proj_size", 0) or hidden
    h0 = torch.randn(layers * directions, batch, projected)
    c0 = torch.randn(layers * directions, batch, hidden)
    isLstm = isinstance(module, torch.nn.LSTM)
    y, last = module(x, (h0, c0)) if isLstm else module(x, h0)
    hn, cn = last if isLstm else (last, None)
    shape, cells = (layers, directions, batch, projected), (layers, directions, batch, hidden)
    tensors = {"x": x, "y": y, "h0": h0.reshape(shape), "hn": hn.reshape(shape)}
    if isLstm:
        tensors |= {"c0": c0.reshape(cells), "cn": cn.reshape(cells)}
    if projected != hidden:
        tensors["w_hr"] = stack(module, "weight_hr", layers, directions)
    for ours, theirs in [("w_ih", "weight_ih"), ("w_hh", "weight_hh"), ("b_ih", "bias_ih"), ("b_hh", "bias_hh")]:
        tensors[ours] = stack(module, theirs, layers, directions)
    folder = HERE / f"torch-{model}"
    folder.mkdir(exist_ok=True)
    for name, tensor in tensors.items():
        numpy.save(folder / f"{name}.npy", tensor.detach().numpy())


torch.manual_seed(7)
write("rnn", torch.nn.RNN(6, 4, nonlinearity="relu"))
write("lstm", torch.nn.LSTM(6, 4))
write("gru", torch.nn.GRU(6, 4))
write("lstm-two-layers", torch.nn.LSTM(8, 4, num_layers=2, bidirectional=True), layers=2, directions=2, inputs=8)
write("lstm-projection", torch.nn.LSTM(6, 4, proj_size=3))
