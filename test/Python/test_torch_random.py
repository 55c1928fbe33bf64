# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests random calls with all kinds of PyTorch tensors: negative bits, views, gaps, sizes of 0, inference tensors and
subclasses. The results must equal those of plain copies of the tensors."""

import random

import pytest
import torch

import quern
import quern.torch


class Named(torch.Tensor):
    pass


def by_inference(x):
    with torch.inference_mode():
        return x.clone()


KINDS = {
    "plain": lambda x: x, "negative": lambda x: torch.complex(torch.zeros_like(x), -x).conj().imag,
    "real part": lambda x: torch.complex(x, x).real, "transposed": lambda x: x.mT.contiguous().mT,
    "gaps": lambda x: torch.cat([x, x], -1)[..., :x.shape[-1]],
    "every second": lambda x: torch.stack([x, x], -1).flatten(-2)[..., ::2],
    "expanded": lambda x: x[..., :1].expand(x.shape), "offset": lambda x: torch.cat([x[:1], x])[1:],
    "inference": by_inference, "parameter": lambda x: torch.nn.Parameter(x, requires_grad=False),
    "subclass": lambda x: x.as_subclass(Named), "detached": lambda x: x.clone().requires_grad_().detach(),
    "permuted": lambda x: x.movedim(0, -1).contiguous().movedim(-1, 0),
    "negative view": lambda x: torch.complex(torch.zeros_like(x), -x).mT.contiguous().mT.conj().imag,
}


def draw_tensor(draw, shape, type=torch.float32):
    x = torch.randn(shape).to(type)
    # Some kinds need complex numbers, which PyTorch has only for f32 and f64.
    return KINDS[draw.choice(sorted(KINDS))](x) if type in (torch.float32, torch.float64) else x


def plain(x):
    return x.as_subclass(torch.Tensor).resolve_neg().clone(memory_format=torch.contiguous_format)


FUNCTIONS = [
    lambda x, y: quern.softmax(x, 0), lambda x, y: quern.log_softmax(x), lambda x, y: quern.eltwise(x, "tanh"),
    lambda x, y: quern.binary(x, y, "sub"), lambda x, y: quern.binary(x, 0.5, "mul"), lambda x, y: quern.sum([x, y]),
    lambda x, y: quern.concat([x, y]), lambda x, y: quern.transpose(x), lambda x, y: quern.reorder(y),
    lambda x, y: quern.matmul(x, y.mT), lambda x, y: quern.softmax_backward(x, y),
    lambda x, y: quern.torch.softmax(x, 0), lambda x, y: quern.torch.log_softmax(y),
    lambda x, y: quern.torch.eltwise(x, "logistic"),
]


@pytest.mark.parametrize("seed", range(8))
def test_functions(seed):
    draw = random.Random(seed)
    torch.manual_seed(seed)
    for _ in range(40):
        shape = [draw.choice([0, 1, 2, 3, 8]), draw.choice([0, 1, 5, 16, 33])]
        x, y = draw_tensor(draw, shape), draw_tensor(draw, shape)
        function = draw.choice(FUNCTIONS)
        expected = function(plain(x), plain(y))
        found = function(x, y)
        torch.testing.assert_close(torch.as_tensor(found).as_subclass(torch.Tensor), expected, rtol=1e-6, atol=1e-6)


def reference(function, *arrays):
    """Returns the result of `function`, or its error message."""
    try:
        return function(*arrays)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore")
def test_layers(seed):
    """Tests layers with all kinds of weights, inputs and states, in all modes, with sizes of 0."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    kind = ("LSTM", "GRU", "RNN")[seed % 3]
    options = {"num_layers": 1 + seed % 2, "bidirectional": seed % 4 > 1, "bias": seed % 5 > 0}
    theirs, own = getattr(torch.nn, kind)(4, 6, **options), getattr(quern.torch, kind)(4, 6, **options)
    own.load_state_dict(theirs.state_dict())
    count = own.num_layers * (2 if own.bidirectional else 1)
    for _ in range(12):
        name = draw.choice([name for name, _ in own.named_parameters()])
        weight = draw_tensor(draw, getattr(own, name).shape) if getattr(own, name).dim() == 2 else \
            torch.randn(getattr(own, name).shape)
        setattr(own, name, torch.nn.Parameter(weight.as_subclass(torch.Tensor), requires_grad=False))
        setattr(theirs, name, torch.nn.Parameter(plain(weight), requires_grad=False))
        shape = (draw.choice([0, 1, 5]), draw.choice([0, 1, 3]))
        x = draw_tensor(draw, (*shape, 4))
        h, c = (draw_tensor(draw, (count, shape[1], 6)) for _ in range(2))
        states = draw.choice([None, (h, c) if kind == "LSTM" else h])
        same = states if states is None else tuple(map(plain, states)) if kind == "LSTM" else plain(states)
        mode = draw.choice([torch.no_grad, torch.inference_mode, torch.enable_grad])
        with mode():
            expected = reference(theirs, plain(x), same)
            found = reference(own, x, states)
        if isinstance(found, str) and found.startswith("Inference tensors cannot be saved"):
            assert mode is torch.enable_grad  # Quern's operator saves all inputs for backward, PyTorch's only some
            continue
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected
            continue
        for a, b in zip((found[0], *found[1]), (expected[0], *expected[1])):
            torch.testing.assert_close(a.detach().as_subclass(torch.Tensor), b.detach(), rtol=2e-4, atol=2e-4)
