# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares quern.torch with PyTorch: functions, modules, autograd, compile, state_dict, packed sequences, models."""

import concurrent.futures
import copy
import subprocess
import sys

import numpy
import pytest
import torch
from references import keeps_no_memory, near, softmax
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence
from letters import TEXT, batches

import quern
import quern.torch
from quern import _quern, _torch_operators, _torch_sequences


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


def test_a_gradient_from_the_result():
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    for algorithm, function in [("elu", torch.nn.functional.elu), ("tanh", torch.tanh), ("logistic", torch.sigmoid)]:
        own, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (
            lambda x, a=algorithm: quern.torch.eltwise(x, a + "_use_dst_for_bwd", 1.0), function))
        close(own, theirs)


def test_operators_are_built():
    """test/Python/run.sh builds the compiled operators for the installed PyTorch."""
    assert _torch_operators.built is not None
    assert _quern.has_torch_threads()


def test_operators_in_python():
    """Repeats the tests of the operators without the compiled module, so that the operators in Python are used."""
    program = """
import sys, pytest, torch
sys.modules["quern._torch_" + "_".join(torch.__version__.split(".")[:2])] = None
tests = "(functions or operators or errors or compile or gradient) and not built and not in_python"
sys.exit(pytest.main(["-q", "--framework=torch", "-p", "no:cacheprovider", sys.argv[1], "-k", tests]))
"""
    subprocess.run([sys.executable, "-c", program, __file__], check=True, timeout=600)


def test_errors():
    x = torch.randn(2, 3)
    for call, part in [(lambda: quern.torch.softmax(x, 2), "-2 to 1"),
                       (lambda: quern.torch.softmax(x.long(), 1), "(?i)long|s64"),
                       (lambda: quern.torch.eltwise(x, "frob"), "frob")]:
        with pytest.raises(quern.Error, match=part):
            call()
    for shape in [(), (0, 3), (3, 0), (1,) * 12]:
        close(quern.torch.softmax(torch.ones(shape), -1), torch.softmax(torch.ones(shape), -1))
    with pytest.raises(quern.Error, match="12"):
        quern.torch.softmax(torch.ones((1,) * 13), -1)


def test_subclasses_and_modes():
    class Named(torch.Tensor):
        pass
    x = torch.randn(3, 4)
    assert isinstance(quern.torch.softmax(x.as_subclass(Named), 1), Named)
    calls = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            calls.append(function)
            return function(*args, **(kwargs or {}))
    with Mode():
        quern.torch.softmax(x, 1)
    assert len(calls) == 1
    close(torch.func.vmap(lambda x: quern.torch.softmax(x, 0))(x), torch.softmax(x, 1))
    close(torch.func.grad(lambda x: (quern.torch.softmax(x, 1) ** 2).sum())(x),
          torch.func.grad(lambda x: (torch.softmax(x, 1) ** 2).sum())(x))


def test_threads_are_pytorchs():
    """Quern runs on the threads of PyTorch and creates none, neither its own nor threads of oneTBB."""
    program = """
import os, torch, quern.torch
torch.set_num_threads(2)
x = torch.randn(4096, 1000)
torch.softmax(x, 1)
before = set(os.listdir("/proc/self/task"))
for _ in range(3):
    y = quern.torch.softmax(x, 1)
    quern.softmax(x)
    with torch.no_grad():
        quern.torch.LSTM(64, 64)(torch.randn(5, 3, 64))
assert set(os.listdir("/proc/self/task")) == before, "the threads that PyTorch had already"
torch.set_num_threads(1)
assert torch.equal(quern.torch.softmax(x, 1), y)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_operators():
    x = torch.randn(3, 5, requires_grad=True)
    torch.library.opcheck(torch.ops.quern.softmax.default, (x, 1, False))
    torch.library.opcheck(torch.ops.quern.eltwise.default, (x, "tanh", 0.0, 0.0))
    module = quern.torch.LSTM(4, 6)
    parameters = [parameter.detach() for parameter in module.parameters()]
    sample, lengths = torch.randn(5, 3, 4), torch.tensor([5, 3, 1], dtype=torch.int32)
    for training in (False, True):
        for given in (None, lengths):
            arguments = (sample, None, None, given, *parameters, *[None] * 6, "lstm", "", training)
            # The last test compares results, but the bytes in the gaps of a workspace differ between executions.
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


def ragged(*lengths):
    return pack_sequence([torch.randn(length, 5) for length in lengths], enforce_sorted=False)


@pytest.mark.parametrize("worth", [None, 1, 9], ids=["whole", "every end", "chunks"])
@pytest.mark.parametrize("options", [{"num_layers": 2, "bidirectional": True}, {}, {"proj_size": 3, "bias": False}],
                         ids=str)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_packed_sequences(kind, options, worth, monkeypatch):
    if "proj_size" in options and kind != "LSTM":
        return
    if worth:
        monkeypatch.setattr(_torch_sequences.Direction, "worth", lambda self, training: worth)
    torch.manual_seed(3)
    theirs, own = (getattr(module, kind)(5, 8, **options) for module in (torch.nn, quern.torch))
    own.load_state_dict(theirs.state_dict())
    count, size = theirs.num_layers * (2 if theirs.bidirectional else 1), theirs.proj_size or 8
    h = torch.randn(count, 4, size)
    states = (h, torch.randn(count, 4, 8)) if kind == "LSTM" else h
    ordered, even = (pack_padded_sequence(torch.randn(6, 3, 5), lengths) for lengths in ([6, 4, 1], [6, 6, 6]))
    many = ragged(3, 9, 9, 1, 2, 8, 5, 7, 4, 1, 6, 3, 2)
    for packed, given in [(ragged(2, 7, 1, 4), states), (ordered, None), (even, None), (many, None)]:
        with torch.no_grad():
            close(own(packed, given)[0].data, theirs(packed, given)[0].data)
            close(own(packed, given)[1], theirs(packed, given)[1])
        results = []
        for module in (theirs, own):
            module.zero_grad()
            data = packed.data.clone().requires_grad_()
            starts = given if given is None else [s.clone().requires_grad_() for s in
                                                  (given if kind == "LSTM" else [given])]
            y, last = module(packed._replace(data=data), starts if kind == "LSTM" or given is None else starts[0])
            ((y.data ** 2).sum() + sum((s ** 3).sum() for s in (last if kind == "LSTM" else [last]))).backward()
            results.append((y, last, [parameter.grad.clone() for parameter in module.parameters()], data.grad,
                            [s.grad for s in starts or []]))
        assert torch.equal(results[0][0].batch_sizes, results[1][0].batch_sizes)
        close(results[0][0].data, results[1][0].data)
        close(results[0][1], results[1][1])
        close(results[0][2:], results[1][2:], 1e-3)


@pytest.mark.parametrize("worth", [1, 1000])
def test_results_behind_the_end_are_zero(worth, monkeypatch):
    monkeypatch.setattr(_torch_sequences.Direction, "worth", lambda self, training: worth)
    parameters = [parameter.detach() for parameter in quern.torch.LSTM(4, 6).parameters()]
    lengths, x = torch.tensor([5, 3, 1], dtype=torch.int32), torch.randn(7, 3, 4)
    for at, length in enumerate(lengths):
        x[length:, at] = torch.nan  # must not be read
    y, h, c, _ = torch.ops.quern.rnn(x, None, None, lengths, *parameters, *[None] * 6, "lstm", "", False)
    for at, length in enumerate(lengths):
        assert (y[length:, at] == 0).all() and torch.equal(y[length - 1, at], h[0, at])
    assert c.isfinite().all()


def test_packed_sequences_of_bf16(monkeypatch):
    monkeypatch.setattr(_torch_sequences.Direction, "worth", lambda self, training: 3)
    theirs, own = torch.nn.LSTM(5, 8), quern.torch.LSTM(5, 8).bfloat16()
    theirs.load_state_dict(own.state_dict())
    packed = ragged(6, 5, 2, 1)
    y, (h, c) = own(packed._replace(data=packed.data.bfloat16()))
    y.data.sum().backward()
    expected, last = theirs(packed)
    expected.data.sum().backward()
    close(y.data.float(), expected.data, 0.05)
    close([h.float(), c.float()], list(last), 0.05)
    close([p.grad.float() for p in own.parameters()], [p.grad for p in theirs.parameters()], 0.3)


def test_lengths_that_are_new_compile_nothing(monkeypatch):
    monkeypatch.setattr(_torch_sequences.Direction, "worth", lambda self, training: 2)
    module = quern.torch.LSTM(5, 8)

    def step(*lengths):
        module(ragged(*lengths))[0].data.sum().backward()
        with torch.no_grad():
            module(ragged(*lengths))
    step(4, 3, 1)
    before = quern.cache.statistics()["memory_misses"]
    step(9, 7, 5, 5, 2)
    step(3, 2)
    assert quern.cache.statistics()["memory_misses"] == before


def test_chunks():
    for lengths, worth, chunks in [
            ([5, 5, 5, 5], 1, [(0, 5, 4)]), ([9, 2, 2, 2], 1, [(0, 2, 4), (2, 9, 1)]), ([9, 2, 2, 2], 30, [(0, 9, 4)]),
            ([4, 3, 2, 1], 1, [(0, 1, 4), (1, 2, 3), (2, 3, 2), (3, 4, 1)]), ([4, 3, 2, 1], 3, [(0, 2, 4), (2, 4, 2)]),
            ([3, 0, 0], 1, [(0, 3, 3)]), ([0, 0], 1, []), ([], 1, []), ([9, 3], 1, [(0, 3, 2), (3, 9, 1)])]:
        assert _torch_sequences.chunks_of(lengths, 20, worth) == chunks, lengths
    made = _torch_sequences.chunks_of(list(range(200, 0, -1)), 150, 1)
    assert len(made) == _torch_sequences.MOST_CHUNKS and made[-1].end == 150
    assert all(before.end == after.begin for before, after in zip(made, made[1:]))


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


def test_operators_in_threads_that_end():
    """Each thread has its own kernels, which are destroyed when it ends."""
    inputs = [torch.randn(4, size, requires_grad=True) for size in range(3, 11)]
    expected = [torch.autograd.grad((torch.softmax(x, 1) ** 2).sum(), x)[0] for x in inputs]

    def run(_):
        for x, gradient in zip(inputs, expected):
            close(torch.autograd.grad((quern.torch.softmax(x, 1) ** 2).sum(), x)[0], gradient)
        return True
    for _ in range(5):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert all(pool.map(run, range(16)))


class Characters(torch.nn.Module):
    def __init__(self, kind, softmax):
        super().__init__()
        count = len(set(TEXT))
        self.embed, self.out = torch.nn.Embedding(count, 32), torch.nn.Linear(48, count)
        self.layer, self.softmax = kind(32, 48), softmax

    def forward(self, x):
        return self.softmax(self.out(self.layer(self.embed(x))[0]), -1)


def test_characters():
    """Trains an LSTM on characters for 200 steps; the losses must be the same."""
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


@pytest.mark.parametrize("call", ["softmax", "recorded", "lstm", "lengths", "step"])
def test_memory_over_ten_thousand_calls(call):
    x, module = torch.randn(8, 64), quern.torch.LSTM(5, 8)
    packed = ragged(5, 3, 1)
    leaf = x.clone().requires_grad_()

    def infer(given):
        with torch.no_grad():
            module(given)

    def step():
        module.zero_grad()
        module(packed)[0].data.sum().backward()
    keeps_no_memory({
        "softmax": lambda: quern.torch.softmax(x, 1),
        "recorded": lambda: torch.autograd.grad(quern.torch.softmax(leaf, 1).sum(), leaf),
        "lstm": lambda: infer(packed.data[:, None]), "lengths": lambda: infer(packed), "step": step}[call])
