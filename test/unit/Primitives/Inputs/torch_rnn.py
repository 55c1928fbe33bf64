# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_rnn.py: writes the results of PyTorch for small RNNs to torch-<model>/<tensor>.npy next to
this file, for RnnModelsTest.cpp.

Tensors have the shapes of PyTorch; weights and biases of layers and directions are stacked: x [T, N, I], h0, c0, hn, cn
[L, D, N, H], y [T, N, D H], w_ih [L, D, G H, I], w_hh [L, D, G H, H], b_ih, b_hh [L, D, G H]; with a projection w_hr
[L, D, P, H], and P replaces H in x, y, h0, hn and w_hh. A second layer reads D H channels, so I = D H if there is
one. With lengths [N], sequences are packed. d_<tensor> is a gradient: random for y, hn and cn; the others are computed
from these by autograd.
"""
import pathlib

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent


class ResetBefore(torch.nn.GRU):
    """A GRU that applies the reset gate before the product, for autograd; PyTorch has no such module."""

    def forward(self, x, h0):
        h, steps = h0[0], []
        for row in x:
            input_gates = torch.nn.functional.linear(row, self.weight_ih_l0, self.bias_ih_l0).chunk(3, 1)
            hidden = torch.nn.functional.linear(h, self.weight_hh_l0, self.bias_hh_l0).chunk(3, 1)
            r, z = torch.sigmoid(input_gates[0] + hidden[0]), torch.sigmoid(input_gates[1] + hidden[1])
            of_candidate = slice(2 * self.hidden_size, None)
            reset = torch.nn.functional.linear(r * h, self.weight_hh_l0[of_candidate], self.bias_hh_l0[of_candidate])
            h = z * h + (1 - z) * torch.tanh(input_gates[2] + reset)
            steps.append(h)
        return torch.stack(steps), h[None]


def stack(module, name, layers, directions, of=lambda parameter: parameter):
    suffixes = ["", "_reverse"][:directions]
    parts = [torch.stack([of(getattr(module, f"{name}_l{layer}{suffix}")) for suffix in suffixes])
             for layer in range(layers)]
    return torch.stack(parts)


def run(module, x, states, lengths):
    if lengths is None:
        return module(x, states)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    y, last = module(packed, states)
    return torch.nn.utils.rnn.pad_packed_sequence(y, total_length=len(x))[0], last


def write(model, module, layers=1, directions=1, steps=5, batch=3, inputs=6, hidden=4, lengths=None):
    x = torch.randn(steps, batch, inputs, requires_grad=True)
    projected = getattr(module, "proj_size", 0) or hidden
    h0 = torch.randn(layers * directions, batch, projected, requires_grad=True)
    c0 = torch.randn(layers * directions, batch, hidden, requires_grad=True)
    isLstm = isinstance(module, torch.nn.LSTM)
    y, last = run(module, x, (h0, c0) if isLstm else h0, lengths)
    hn, cn = last if isLstm else (last, None)
    random = torch.Generator().manual_seed(11)
    made = {"y": y, "hn": hn} | ({"cn": cn} if isLstm else {})
    given = {name: torch.randn(tensor.shape, generator=random) for name, tensor in made.items()}
    sum((tensor * given[name]).sum() for name, tensor in made.items()).backward()
    shape, cells = (layers, directions, batch, projected), (layers, directions, batch, hidden)
    tensors = {"x": x, "y": y, "h0": h0.reshape(shape), "hn": hn.reshape(shape)}
    tensors |= {"d_x": x.grad, "d_y": given["y"], "d_h0": h0.grad.reshape(shape), "d_hn": given["hn"].reshape(shape)}
    if isLstm:
        tensors |= {"c0": c0.reshape(cells), "cn": cn.reshape(cells)}
        tensors |= {"d_c0": c0.grad.reshape(cells), "d_cn": given["cn"].reshape(cells)}
    if lengths is not None:
        tensors["lengths"] = torch.tensor(lengths, dtype=torch.int32)
    parameters = [("w_ih", "weight_ih"), ("w_hh", "weight_hh"), ("b_ih", "bias_ih"), ("b_hh", "bias_hh")]
    if projected != hidden:
        parameters.append(("w_hr", "weight_hr"))
    for ours, theirs in parameters:
        tensors[ours] = stack(module, theirs, layers, directions)
        tensors["d_" + ours] = stack(module, theirs, layers, directions, lambda parameter: parameter.grad)
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
write("gru-reset-before", ResetBefore(6, 4))
write("gru-two-layers", torch.nn.GRU(8, 4, num_layers=2, bidirectional=True), layers=2, directions=2, inputs=8,
      lengths=[5, 2, 4])
write("lstm-lengths", torch.nn.LSTM(8, 4, num_layers=2, bidirectional=True), layers=2, directions=2, inputs=8,
      lengths=[3, 5, 1])
