# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests quern.torch with features of PyTorch that affect a call: special bits of tensors, derivatives, modes,
transformations, recording, copies. The results must equal PyTorch's, or the call must raise an exception."""

import copy
import io
import pickle
import subprocess
import sys

import numpy
import pytest
import torch
from torch import nn

import quern
import quern.torch
from quern import _torch_operators


def close(first, second, tolerance=2e-4):
    torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)


def pair(kind, **options):
    """Returns a module of torch.nn and the equal module of quern.torch."""
    theirs, own = getattr(nn, kind)(4, 6, **options), getattr(quern.torch, kind)(4, 6, **options)
    own.load_state_dict(theirs.state_dict())
    return theirs, own


def negative(*shape):
    """Returns a tensor with the negative bit: its elements are stored with the opposite sign."""
    x = torch.randn(*shape, dtype=torch.complex64).conj().imag
    assert x.is_neg()
    return x


# --- Special bits ---

UNARY = {
    "softmax": lambda f, x: f.softmax(x, -1), "log_softmax": lambda f, x: f.log_softmax(x, -1),
    "reorder": lambda f, x: f.reorder(x), "astype": lambda f, x: f.astype(x, "float64"),
    "transpose": lambda f, x: f.transpose(x), "eltwise": lambda f, x: f.eltwise(x, "tanh"),
    "binary": lambda f, x: f.binary(x, x, "sub", out=None), "binary scalar": lambda f, x: f.binary(x, 2, "mul"),
    "concat": lambda f, x: f.concat([x, x]), "sum": lambda f, x: f.sum([x, x]),
    "matmul": lambda f, x: f.matmul(x, x.T), "softmax_backward": lambda f, x: f.softmax_backward(x, x),
    "eltwise_backward": lambda f, x: f.eltwise_backward(x, x, "tanh"),
    "torch.softmax": lambda f, x: f.torch.softmax(x), "torch.log_softmax": lambda f, x: f.torch.log_softmax(x),
    "torch.eltwise": lambda f, x: f.torch.eltwise(x, "tanh"),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("shape", [(3, 5), (1, 1)])
def test_negative_bits(name, shape):
    x = negative(*shape)
    close(UNARY[name](quern, x), UNARY[name](quern, x.resolve_neg()))
    close(UNARY[name](quern, x[:, :1]), UNARY[name](quern, x.resolve_neg()[:, :1]))


def test_negative_bits_of_results():
    x, out = torch.randn(3, 5), negative(3, 5)
    assert quern.softmax(x, out=out) is out and out.is_neg()
    close(out, torch.softmax(x, -1))


def test_negative_bits_of_layers():
    for kind in ("LSTM", "GRU", "RNN"):
        theirs, own = pair(kind)
        x, h, c = negative(5, 3, 4), negative(1, 3, 6), negative(1, 3, 6)
        states = (h, c) if kind == "LSTM" else h
        plain = (h.resolve_neg(), c.resolve_neg()) if kind == "LSTM" else h.resolve_neg()
        weight = negative(*own.weight_hh_l0.shape)
        for module in (theirs, own):
            module.weight_hh_l0 = nn.Parameter(weight if module is own else weight.resolve_neg())
        for mode in (torch.no_grad, torch.enable_grad):
            with mode():
                close(own(x, states), theirs(x.resolve_neg(), plain))
        close(own.requires_grad_(False)(x, states), theirs(x.resolve_neg(), plain))


def test_negative_bits_of_gradients():
    x = negative(3, 5).requires_grad_()
    for own, theirs in ((quern.torch.softmax, torch.softmax), (quern.torch.log_softmax, torch.log_softmax)):
        weight = negative(3, 5)
        close(torch.autograd.grad((own(x, 1) * weight).sum(), x), torch.autograd.grad((theirs(x, 1) * weight).sum(), x))


def test_complex_tensors_are_refused():
    z = torch.randn(3, 4, dtype=torch.complex64)
    for x in (z, z.conj(), z.resolve_conj(), z.conj().to(torch.complex128)):
        for call in UNARY.values():
            with pytest.raises((quern.Error, RuntimeError)):
                call(quern, x)
        with pytest.raises((quern.Error, RuntimeError)):
            quern.torch.LSTM(4, 6)(x[:, None])


class Exporter:
    """An object that supports only DLPack, and has is_neg() like a tensor."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def is_neg(self):
        return self.array.is_neg()


def test_exporters_of_special_tensors():
    x = torch.randn(3, 4)
    close(torch.as_tensor(quern.softmax(Exporter(x))), torch.softmax(x, -1))
    with pytest.raises(quern.Error):
        quern.softmax(Exporter(negative(3, 4)))
    with pytest.raises((quern.Error, RuntimeError, BufferError)):
        quern.softmax(Exporter(torch.randn(3, 4, dtype=torch.complex64).conj()))


def test_tensors_without_plain_memory():
    x = torch.randn(3, 4)
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        assert tuple(quern.torch.softmax(fake, 1).shape) == (3, 4)
    for special in (torch._efficientzerotensor((3, 4)), x.to_sparse(), x.to_sparse_csr(), x.to("meta"), fake,
                    torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), torch.nested.nested_tensor([x, x])):
        with pytest.raises(Exception):
            quern.softmax(special)
    close(quern.torch.softmax(torch._efficientzerotensor((3, 4)), 1), torch.full((3, 4), 0.25))
    with pytest.raises(Exception):
        torch.func.vmap(quern.softmax)(x)


# --- Derivatives ---


def penalty(function, x):
    y = function(x)
    gradient, = torch.autograd.grad((y ** 2).sum(), x, create_graph=True)
    return (gradient ** 2).sum()


DERIVED = {"softmax": lambda x: quern.torch.softmax(x, -1), "log_softmax": lambda x: quern.torch.log_softmax(x, -1),
           "eltwise": lambda x: quern.torch.eltwise(x, "tanh"),
           "of the result": lambda x: quern.torch.eltwise(x, "logistic_use_dst_for_bwd"),
           **{kind: lambda x, kind=kind: getattr(quern.torch, kind)(4, 6)(x)[0] for kind in ("LSTM", "GRU", "RNN")}}


@pytest.mark.parametrize("name", DERIVED)
def test_second_derivatives_raise(name):
    x = torch.randn(5, 3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="second derivatives|differentiate twice"):
        penalty(DERIVED[name], x).backward()
    with pytest.raises(RuntimeError, match="second derivatives|differentiate twice"):
        torch.autograd.functional.hessian(lambda x: (DERIVED[name](x) ** 2).sum(), x[:1, :1].detach())
    with pytest.raises(RuntimeError, match="second derivatives|differentiate twice"):
        torch.func.grad(lambda x: (torch.func.grad(lambda x: (DERIVED[name](x) ** 2).sum())(x) ** 2).sum())(x.detach())


@pytest.mark.parametrize("name", DERIVED)
def test_first_derivatives_with_a_graph(name):
    """create_graph is allowed as long as no second derivative is computed."""
    x = torch.randn(5, 3, 4, requires_grad=True)
    torch.manual_seed(1)
    first, = torch.autograd.grad((DERIVED[name](x) ** 2).sum(), x, create_graph=True)
    torch.manual_seed(1)
    second, = torch.autograd.grad((DERIVED[name](x) ** 2).sum(), x)
    close(first.detach(), second)


@pytest.mark.parametrize("name", DERIVED)
def test_forward_derivatives_raise(name):
    x = torch.randn(5, 3, 4)
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.func.jvp(DERIVED[name], (x,), (x,))
    with torch.autograd.forward_ad.dual_level():
        for grad in (torch.no_grad, torch.enable_grad):
            with grad(), pytest.raises((RuntimeError, NotImplementedError)):
                DERIVED[name](torch.autograd.forward_ad.make_dual(x, x))
        DERIVED[name](x)


def test_derivatives_in_python():
    """Repeats these tests without the compiled module of operators."""
    program = """
import sys, pytest, torch
sys.modules["quern._torch_" + "_".join(torch.__version__.split(".")[:2])] = None
tests = "(derivatives or bits or memory or func) and not in_python"
sys.exit(pytest.main(["-q", "--framework=torch", "-p", "no:cacheprovider", sys.argv[1], "-k", tests]))
"""
    assert _torch_operators.built is not None
    subprocess.run([sys.executable, "-c", program, __file__], check=True, timeout=600)


# --- Modes ---


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_inference_mode(kind):
    theirs, own = pair(kind)
    x = torch.randn(5, 3, 4)
    with torch.inference_mode():
        made = getattr(quern.torch, kind)(4, 6)
        made.load_state_dict(theirs.state_dict())
        again = pickle.loads(pickle.dumps(own))
    for module in (made, again, own):
        for mode in (torch.inference_mode, torch.no_grad):
            with mode():
                close(module(x), theirs(x))
                module.freeze()
                close(module(x), theirs(x))
                module.unfreeze()
    with torch.inference_mode():
        inferred = torch.randn(5, 3, 4)
    close(own(inferred.clone())[0], theirs(inferred.clone())[0])
    with pytest.raises(RuntimeError):
        own(inferred)[0].sum().backward()


def types(result):
    y, last = result
    return [t.dtype for t in (y, *(last if isinstance(last, tuple) else [last]))]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}], ids=str)
def test_autocast(kind, options):
    torch.manual_seed(3)
    theirs, own = pair(kind, **options)
    linear, count = nn.Linear(4, 4), 4 if options else 1
    h = torch.randn(count, 3, 6)
    for given in (torch.float32, torch.bfloat16):
        x = torch.randn(5, 3, 4).to(given)
        for states in (None, (h, h) if kind == "LSTM" else h):
            results = []
            for module in (theirs, own):
                module.zero_grad()
                with torch.autocast("cpu", torch.bfloat16):
                    result = module(x if given != torch.float32 else linear(x), states)
                result[0].float().pow(2).sum().backward()
                results.append((types(result), result[0].float(), [p.grad.float() for p in module.parameters()]))
            assert results[0][0] == results[1][0]
            close(results[0][1:], results[1][1:], 0.1)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        x = torch.randn(5, 3, 4)
        assert types(own.freeze()(x)) == types(theirs(x))
        close(own(x)[0].float(), theirs(x)[0].float(), 0.05)
    own.unfreeze()
    for function, other in ((quern.torch.softmax, torch.softmax), (quern.torch.log_softmax, torch.log_softmax)):
        with torch.autocast("cpu", torch.bfloat16):
            for type in (torch.float32, torch.bfloat16):
                x = torch.randn(3, 4).to(type)
                assert function(x, 1).dtype == other(x, 1).dtype


def test_a_length_of_zero_raises():
    for kind in ("LSTM", "GRU", "RNN"):
        for module in (*pair(kind), getattr(quern.torch, kind)(4, 6).freeze().requires_grad_(False)):
            for x in (torch.randn(0, 3, 4), torch.randn(0, 4)):
                for mode in (torch.no_grad, torch.enable_grad):
                    with mode(), pytest.raises(RuntimeError, match="sequence length to be larger than 0"):
                        module(x)
            with pytest.raises(RuntimeError, match="Expected 4, got 0"):
                module(torch.randn(5, 3, 0))
        theirs, own = pair(kind)
        close(own(torch.randn(5, 0, 4)), theirs(torch.randn(5, 0, 4)))


def test_states_that_do_not_fit_raise():
    x = torch.randn(5, 3, 4)
    for kind in ("LSTM", "GRU", "RNN"):
        for module in pair(kind):
            for size in ((2, 3, 6), (1, 2, 6), (1, 3, 5)):
                h = torch.randn(size)
                with pytest.raises(RuntimeError, match="size"):
                    module(x, (h, h) if kind == "LSTM" else h)
    h = torch.randn(1, 3, 6)
    for call in (lambda: quern.torch.LSTM(4, 6)(x, h), lambda: quern.torch.GRU(4, 6)(x, (h, h)),
                 lambda: quern.torch.LSTM(4, 6)(x, (h,))):
        with pytest.raises(TypeError, match="hx"):
            call()


def test_arguments_of_a_wrong_kind_are_named():
    x, module = torch.randn(2, 3), quern.torch.LSTM(4, 6)
    for call, text in [(lambda: quern.torch.softmax(None), "x is of type NoneType"),
                       (lambda: quern.torch.log_softmax(numpy.zeros(3)), "x is of type ndarray"),
                       (lambda: quern.torch.softmax(x, None), "dim is None"),
                       (lambda: quern.torch.log_softmax(x, (0, 1)), r"dim is \(0, 1\)"),
                       (lambda: quern.torch.eltwise(None, "relu"), "x is of type"),
                       (lambda: quern.torch.eltwise(x, None), "algorithm is None"),
                       (lambda: quern.torch.eltwise(x, "relu", None), "alpha is None"),
                       (lambda: module(None), "input is of type NoneType"),
                       (lambda: module(x, 3), "hx is of type int")]:
        with pytest.raises(TypeError, match=text):
            call()


# --- Transformations ---


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_func_transformations(kind):
    torch.manual_seed(4)
    theirs, own = pair(kind)
    x, parameters = torch.randn(5, 3, 4), {name: p.detach() for name, p in own.named_parameters()}

    def loss(module, parameters, x):
        return (torch.func.functional_call(module, parameters, (x,))[0] ** 2).sum()
    expected = torch.func.grad(lambda p, x: loss(theirs, p, x), (0, 1))(parameters, x)
    close(torch.func.grad(lambda p, x: loss(own, p, x), (0, 1))(parameters, x), expected, 1e-3)
    value, pullback = torch.func.vjp(lambda x: own(x)[0], x)
    close(value, theirs(x)[0])
    close(pullback(torch.ones_like(value)), torch.func.vjp(lambda x: theirs(x)[0], x)[1](torch.ones_like(value)), 1e-3)
    with torch.no_grad():
        close(torch.func.functional_call(own, parameters, (x,)), theirs(x))


@pytest.mark.filterwarnings("ignore")
def test_vmap_of_layers():
    """vmap over inputs, over weights, and over gradients equals one call per element."""
    theirs, own = pair("LSTM")
    many = torch.randn(7, 5, 3, 4)
    expected = torch.stack([theirs(x)[0] for x in many]).detach()
    with torch.no_grad():
        close(torch.func.vmap(lambda x: own(x)[0])(many), expected)
        scaled = torch.stack([torch.full_like(own.weight_hh_l0, scale) for scale in (0.5, 1.0)])
        found = torch.func.vmap(lambda w: torch.func.functional_call(own, {"weight_hh_l0": w}, (many[0],))[0])(scaled)
        for weight, y in zip(scaled, found):
            close(y, torch.func.functional_call(theirs, {"weight_hh_l0": weight}, (many[0],))[0])
    parameters = {name: p.detach() for name, p in own.named_parameters()}

    def loss(module, parameters, x):
        return (torch.func.functional_call(module, parameters, (x,))[0] ** 2).sum()
    own_gradients, their_gradients = (
        torch.func.vmap(torch.func.grad(lambda p, x, m=module: loss(m, p, x)), (None, 0), randomness="error")
        (parameters, many) if module is own else
        {name: torch.stack([torch.func.grad(lambda p: loss(theirs, p, x))(parameters)[name] for x in many])
         for name in parameters} for module in (own, theirs))
    close(own_gradients, their_gradients, 1e-3)


# --- Recording, copies ---


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_trace(kind):
    theirs, own = pair(kind, num_layers=2, bidirectional=True)
    x = torch.randn(5, 3, 4)
    for mode in (torch.no_grad, torch.enable_grad):
        with mode():
            traced = torch.jit.trace(own, (x,))
            file = io.BytesIO()
            torch.jit.save(traced, file)
            file.seek(0)
            again = torch.jit.load(file)
            for other in (x, torch.randn(5, 3, 4), torch.randn(9, 2, 4)):
                close(traced(other), theirs(other))
                close(again(other), theirs(other))
            own.weight_hh_l0.data.mul_(0.5)
            theirs.weight_hh_l0.data.mul_(0.5)
            close(traced(x), theirs(x))
    with pytest.raises(TypeError, match="torch.export"):
        torch.jit.trace(lambda data: own(nn.utils.rnn.pack_padded_sequence(data, [5, 3, 2]))[0].data, (x,))


@pytest.mark.filterwarnings("ignore")
def test_script():
    module = nn.Sequential(quern.torch.LSTM(4, 6))
    for given in (module, module[0]):
        with pytest.raises(TypeError, match="torch.jit.script"):
            torch.jit.script(given)

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.ops.quern.softmax(x, 1, False)
    x = torch.randn(3, 4)
    close(torch.jit.script(function)(x), torch.softmax(x, 1))


def test_copies_of_layers():
    theirs, own = pair("LSTM", num_layers=2)
    x, file = torch.randn(5, 3, 4), io.BytesIO()
    torch.save(own, file)
    file.seek(0)
    own.freeze()
    with torch.no_grad():
        own(x)
        for module in (copy.deepcopy(own), copy.copy(own), pickle.loads(pickle.dumps(own)),
                       torch.load(file, weights_only=False)):
            close(module(x), theirs(x))


@pytest.mark.parametrize("type", [torch.int8, torch.uint8, torch.bool])
def test_softmax_of_integers(type):
    x = torch.tensor([[1, 0, 3], [0, 1, 1]]).to(type)
    for own, theirs in ((quern.torch.softmax, torch.softmax), (quern.torch.log_softmax, torch.log_softmax),
                        (quern.softmax, torch.softmax)):
        assert own(x, -1).dtype == torch.float32
        close(own(x, -1), theirs(x.float(), -1))
    assert quern.softmax(numpy.asarray(x)).dtype == numpy.float32
