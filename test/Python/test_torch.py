# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quern.torch against PyTorch's own functions and modules: autograd, compile, state_dict, packed sequences, models."""

import concurrent.futures
import copy
import pickle

import numpy
import pytest
import torch
from references import near, softmax
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence
from letters import TEXT, batches

import quern
import quern.torch


def close(first, second, tolerance=2e-4):
    torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)


PAIRS = [(quern.torch.softmax, torch.softmax), (quern.torch.log_softmax, torch.log_softmax),
         (lambda x, dim: quern.torch.eltwise(x, "gelu_tanh"),
          lambda x, dim: torch.nn.functional.gelu(x, approximate="tanh")),
         (lambda x, dim: quern.torch.eltwise(x, "swish", 1.0), lambda x, dim: torch.nn.functional.silu(x))]


@pytest.mark.parametrize("pair", PAIRS, ids=["softmax", "log_softmax", "gelu", "swish"])
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_functions(pair, dim):
    torch.manual_seed(1)
    x, weight = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    for given in (x, x.transpose(0, 2).contiguous().transpose(0, 2), x.double()):
        results = []
        for function in pair:
            leaf = given.clone().requires_grad_()
            y = function(leaf, dim)
            (y * weight).sum().backward()
            results.append((y.detach(), leaf.grad))
        close(*results)
    close(pair[0](x.bfloat16(), dim), pair[1](x.bfloat16(), dim), 0.03)
    assert torch.autograd.gradcheck(lambda x: pair[0](x, dim), x[:2, :2, :3].double().requires_grad_())


def test_operators():
    x = torch.randn(3, 5, requires_grad=True)
    torch.library.opcheck(torch.ops.quern.softmax.default, (x, 1, False))
    torch.library.opcheck(torch.ops.quern.eltwise.default, (x, "tanh", 0.0, 0.0))
    module = quern.torch.LSTM(4, 6)
    w, u, bias, _ = module._weights(0)
    sample = torch.randn(5, 3, 4)
    for training in (False, True):
        arguments = (sample, None, None, None, None, w.detach(), u.detach(), None, None, bias.detach(), "lstm",
                     "left2right", "", training)
        # A workspace has gaps, whose bytes differ from one execution to the next: nothing to compare.
        every = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
        torch.library.opcheck(torch.ops.quern.rnn.default, arguments, test_utils=every[:3] if training else every)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("options", [
    {}, {"num_layers": 2}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True, "batch_first": True},
    {"bias": False}, {"proj_size": 3, "num_layers": 2, "bidirectional": True}, {"nonlinearity": "relu"}], ids=str)
def test_modules(kind, options):
    if ("proj_size" in options and kind != "LSTM") or ("nonlinearity" in options and kind != "RNN"):
        return
    torch.manual_seed(2)
    theirs = getattr(torch.nn, kind)(5, 8, **options)
    own = getattr(quern.torch, kind)(5, 8, **options)
    own.load_state_dict(theirs.state_dict())
    assert list(own.state_dict()) == list(theirs.state_dict())
    x = torch.randn(4, 6, 5)
    batch = x.shape[0] if options.get("batch_first") else x.shape[1]
    count = theirs.num_layers * (2 if theirs.bidirectional else 1)
    h, c = torch.randn(count, batch, theirs.proj_size or 8), torch.randn(count, batch, 8)
    for states in (None, (h, c) if kind == "LSTM" else h):
        results = []
        for module in (theirs, own):
            leaf = x.clone().requires_grad_()
            y, last = module(leaf, states)
            loss = (y ** 2).sum() + sum((s ** 3).sum() for s in (last if kind == "LSTM" else [last]))
            module.zero_grad()
            loss.backward()
            gradients = {name: parameter.grad.clone() for name, parameter in module.named_parameters()}
            results.append((y.detach(), last, leaf.grad, gradients))
        close(*(result[0] for result in results))
        close(results[0][1], results[1][1])
        close(results[0][2], results[1][2], 1e-3)
        close(results[0][3], results[1][3], 1e-3)
        with torch.no_grad():
            close(own(x, states), theirs(x, states))
    with torch.no_grad():  # without a batch
        single = x[:, 0]
        close(own(single), theirs(single))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_sequences(kind):
    torch.manual_seed(3)
    theirs = getattr(torch.nn, kind)(5, 8, num_layers=2, bidirectional=True)
    own = getattr(quern.torch, kind)(5, 8, num_layers=2, bidirectional=True)
    own.load_state_dict(theirs.state_dict())
    sequences = [torch.randn(length, 5) for length in (2, 7, 1, 4)]
    h = torch.randn(4, 4, 8)
    states = (h, torch.randn(4, 4, 8)) if kind == "LSTM" else h
    ordered = pack_padded_sequence(torch.randn(6, 3, 5), [6, 4, 1])
    many = pack_sequence([torch.randn(length, 5) for length in (3, 9, 9, 1, 2, 8, 5, 7, 4, 1, 6, 3, 2)],
                         enforce_sorted=False)
    for packed, given in [(pack_sequence(sequences, enforce_sorted=False), states), (ordered, None), (many, None)]:
        with torch.no_grad():
            close(own(packed, given)[0].data, theirs(packed, given)[0].data)
        results = []
        for module in (theirs, own):
            module.zero_grad()
            y, last = module(packed, given)
            (y.data ** 2).sum().backward()
            results.append((y, last, [parameter.grad.clone() for parameter in module.parameters()]))
        assert torch.equal(results[0][0].batch_sizes, results[1][0].batch_sizes)
        close(results[0][0].data, results[1][0].data)
        close(results[0][1], results[1][1])
        close(results[0][2], results[1][2], 1e-3)


def test_groups():
    for lengths, ends in [([5, 5, 5, 5, 5, 5, 5, 5], [8]), ([9, 9, 9, 9, 2, 2, 2, 2], [4, 8]), ([9, 2, 2, 2, 2], [5]),
                          ([9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1], [4, 8, 12])]:
        assert quern.torch._groups(lengths) == ends


def test_weights_are_packed_again_when_they_change():
    module, other = quern.torch.GRU(4, 6), torch.nn.GRU(4, 6)
    x = torch.randn(3, 2, 4)
    with torch.no_grad():
        for _ in range(3):
            other.load_state_dict(module.state_dict())
            close(module(x), other(x))
            kept = module._packed(0)
            assert module._packed(0) is kept
            module.weight_hh_l0.mul_(0.5)
            assert module._packed(0) is not kept
        other.load_state_dict(module.state_dict())
        close(module(x), other(x))
    again = pickle.loads(pickle.dumps(module))
    with torch.no_grad():
        close(again(x), other(x))
        close(copy.deepcopy(module)(x), other(x))


def test_compile():
    torch.manual_seed(4)
    module, other = quern.torch.LSTM(4, 6), torch.nn.LSTM(4, 6)
    other.load_state_dict(module.state_dict())

    def whole(module, softmax, x):
        y, _ = module(x)
        return softmax(y * 2 + 1, -1).sin()
    x = torch.randn(3, 2, 4)
    graph = torch.compile(lambda x: whole(module, quern.torch.softmax, x), backend="aot_eager", fullgraph=True)
    expected = whole(other, torch.softmax, x)
    close(graph(x), expected)
    graph(x).sum().backward()
    expected.sum().backward()
    close([p.grad for p in module.parameters()], [p.grad for p in other.parameters()], 1e-3)


def test_tensors_of_numpys_functions():
    x = torch.randn(4, 9)
    y = quern.softmax(x)
    assert isinstance(y, torch.Tensor) and y.dtype == x.dtype
    near(y, softmax(x.numpy(), -1))
    out = torch.empty(9, 4).T
    assert quern.softmax(x, out=out) is out
    close(out, torch.softmax(x, -1))
    close(quern.softmax(x.bfloat16()), torch.softmax(x.bfloat16(), -1), 0.02)
    close(quern.softmax(x[:, ::2]), torch.softmax(x[:, ::2], -1))
    with pytest.raises(Exception, match="grad"):
        quern.softmax(x.clone().requires_grad_())
    with pytest.raises(quern.Error, match="int64"):
        quern.astype(x, torch.int64)


def test_threads():
    module = quern.torch.LSTM(16, 32)
    x = torch.randn(8, 4, 16)
    with torch.no_grad():
        expected = module(x)[0]

        def run(_):
            with torch.no_grad():
                return torch.equal(module(x)[0], expected)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert all(pool.map(run, range(100)))


class Characters(torch.nn.Module):
    def __init__(self, kind, softmax):
        super().__init__()
        count = len(set(TEXT))
        self.embed, self.out = torch.nn.Embedding(count, 32), torch.nn.Linear(48, count)
        self.layer, self.softmax = kind(32, 48), softmax

    def forward(self, x):
        return self.softmax(self.out(self.layer(self.embed(x))[0]), -1)


def test_characters():
    """200 steps of an LSTM over characters: the same losses."""
    losses, state = [], None
    for kind, function in [(torch.nn.LSTM, torch.log_softmax), (quern.torch.LSTM, quern.torch.log_softmax)]:
        torch.manual_seed(5)
        model = Characters(kind, function)
        state = state or copy.deepcopy(model.state_dict())
        model.load_state_dict(state)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        values = []
        for x, target in batches(200, 24, 8):
            logs = model(torch.from_numpy(x))
            loss = torch.nn.functional.nll_loss(logs.flatten(0, 1), torch.from_numpy(target).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            values.append(loss.item())
        losses.append(values)
    assert losses[0][-1] < 0.8 * losses[0][0], "it learns"
    assert max(abs(a - b) for a, b in zip(*losses)) < 1e-3


def test_speech_as_a_stream():
    torch.manual_seed(6)
    theirs, own = torch.nn.LSTM(64, 64), quern.torch.LSTM(64, 64)
    own.load_state_dict(theirs.state_dict())
    sound, states, parts = torch.randn(40, 1, 64), None, []
    with torch.no_grad():
        for begin in range(0, 40, 4):
            y, states = own(sound[begin:begin + 4], states)
            parts.append(y)
        close(torch.cat(parts), theirs(sound)[0])
    assert numpy.isfinite(parts[0].numpy()).all()
