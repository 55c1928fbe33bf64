# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares quern.jax with the functions of JAX: jit, vmap, grad, layouts, donation, threads, custom functions."""

import concurrent.futures
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy
import pytest
import references
from references import keeps_no_memory, near
from test_problem import SCALE
from test_rnn import make

import quern
import quern.jax


def scan(cell, x, w, u, bias, h, c=None, lengths=None):
    """One layer, left to right, implemented with jax.lax.scan."""
    gates_of = jnp.einsum("tni,igh->tngh", x, w[0, 0])
    if cell == "lbr_gru":
        gates_of = jnp.concatenate([gates_of, jnp.zeros_like(gates_of[:, :, :1])], axis=2)

    def step(carry, inputs):
        h, c = carry
        gates, index = inputs
        gates, states = gates + bias[0, 0], jnp.einsum("nh,hgk->ngk", h, u[0, 0])
        if cell == "lstm":
            i, f, g, o = jnp.moveaxis(gates + states, 1, 0)
            after = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            new = jax.nn.sigmoid(o) * jnp.tanh(after)
        elif cell == "rnn":
            new, after = jnp.tanh(gates + states)[:, 0], c
        else:
            z, r = (jax.nn.sigmoid(gates[:, k] + states[:, k]) for k in (0, 1))
            if cell == "gru":
                o = jnp.tanh(gates[:, 2] + jnp.einsum("nh,hgk->ngk", r * h, u[0, 0])[:, 2])
            else:
                o = jnp.tanh(gates[:, 2] + r * (states[:, 2] + gates[:, 3]))
            new, after = z * h + (1 - z) * o, c
        y = new
        if lengths is not None:
            runs = (index < lengths)[:, None]
            y, new, after = jnp.where(runs, new, 0), jnp.where(runs, new, h), jnp.where(runs, after, c)
        return (new, after), y
    c = jnp.zeros_like(h[0, 0]) if c is None else c[0, 0]
    (h, c), y = jax.lax.scan(step, (h[0, 0], c), (gates_of, jnp.arange(x.shape[0])))
    return y, h[None, None], c[None, None]


def ours(cell, x, w, u, bias, h, c=None, lengths=None):
    if cell == "lstm":
        return quern.jax.lstm(x, w, u, bias, h, c, lengths=lengths)
    if cell == "rnn":
        return quern.jax.rnn(x, w, u, bias, h, lengths=lengths)
    return quern.jax.gru(x, w, u, bias, h, linear_before_reset=cell == "lbr_gru", lengths=lengths)


def close(first, second, tolerance=2e-4):
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        numpy.testing.assert_allclose(numpy.asarray(a, float), numpy.asarray(b, float), rtol=tolerance, atol=tolerance)


PAIRS = [(quern.jax.softmax, jax.nn.softmax), (quern.jax.log_softmax, jax.nn.log_softmax),
         (lambda x, axis: quern.jax.eltwise(x, "gelu_tanh"), lambda x, axis: jax.nn.gelu(x)),
         (lambda x, axis: quern.jax.eltwise(x, "swish", 1.0), lambda x, axis: jax.nn.swish(x))]


@pytest.mark.parametrize("pair", PAIRS, ids=["softmax", "log_softmax", "gelu", "swish"])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_functions(draw, pair, axis):
    x = jnp.asarray(draw.standard_normal((3, 4, 5)).astype("f"))
    weight = jnp.asarray(draw.standard_normal((3, 4, 5)).astype("f"))
    own, theirs = ((lambda x, f=f: f(x, axis)) for f in pair)
    close(own(x), theirs(x))
    close(jax.jit(own)(x), theirs(x))

    def loss(function):
        return lambda x, weight: (function(x) * weight).sum()
    close(jax.jit(jax.grad(loss(own)))(x, weight), jax.grad(loss(theirs))(x, weight))
    close(jax.value_and_grad(loss(own))(x, weight), jax.value_and_grad(loss(theirs))(x, weight))
    if axis != 0:
        for dim in (0, 1):
            mapped = (jax.vmap(lambda x, f=f: f(x, axis - (axis == 1)), in_axes=dim) for f in pair)
            close(*(f(x) for f in mapped))
        inner = [jax.vmap(jax.grad(loss(lambda x, f=f: f(x, -1)))) for f in pair]
        close(inner[0](x, weight), inner[1](x, weight))
    narrow = x.astype(jnp.bfloat16)
    close(own(narrow), theirs(narrow), 0.03)


def test_a_gradient_from_the_result():
    x = jnp.asarray([-1.0, 0.5, 2.0])
    for algorithm, function in [("elu", jax.nn.elu), ("tanh", jnp.tanh), ("logistic", jax.nn.sigmoid)]:
        close(jax.grad(lambda x, a=algorithm: quern.jax.eltwise(x, a + "_use_dst_for_bwd", 1.0).sum())(x),
              jax.grad(lambda x, f=function: f(x).sum())(x))


def test_layouts_and_donation(draw):
    x = jnp.asarray(draw.standard_normal((5, 7)).astype("f"))
    close(jax.jit(lambda x: quern.jax.softmax(x.T, 0).T)(x), jax.nn.softmax(x, 1))
    expected = jax.nn.softmax(x, 1)
    close(jax.jit(lambda x: quern.jax.softmax(x, donate=True))(x), expected)
    close(jax.jit(lambda x: quern.jax.softmax(x, donate=True) + x)(x), expected + x)
    copy = jnp.array(x)
    close(jax.jit(lambda x: quern.jax.softmax(x, donate=True), donate_argnums=0)(copy), expected)
    close(x, x)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru", "lbr_gru"])
@pytest.mark.parametrize("ragged", [False, True])
def test_networks(draw, cell, ragged):
    arrays = [jnp.asarray(a) for a in make(draw, cell, sizes=(5, 3, 8, 8)) if a is not None]
    lengths = jnp.asarray([5, 2, 0], jnp.int32) if ragged else None
    weights = [jnp.asarray(draw.standard_normal(a.shape).astype("f")) for a in ours(cell, *arrays)]

    def loss(function):
        def value(*arrays):
            results = function(cell, *arrays, lengths=lengths)
            return sum((result * weight).sum() for result, weight in zip(results, weights))
        return value
    close(jax.jit(lambda *a: ours(cell, *a, lengths=lengths))(*arrays),
          scan(cell, *arrays, lengths=lengths)[:len(weights)])
    every = tuple(range(len(arrays)))
    close(jax.jit(jax.grad(loss(ours), every))(*arrays), jax.grad(loss(scan), every)(*arrays))
    close(jax.grad(loss(ours), 1)(*arrays), jax.grad(loss(scan), 1)(*arrays))


def test_networks_of_several_layers(draw):
    for direction in ["right2left", "bidirectional_concat", "bidirectional_sum"]:
        x, w, u, bias, h0, c0 = (jnp.asarray(a) for a in make(draw, "lstm", direction, layers=2))
        results = quern.jax.lstm(x, w, u, bias, h0, c0, direction=direction)
        for got, wanted in zip(results, references.rnn("lstm", x, w, u, bias, h0, c0, direction=direction)):
            near(got, wanted, roundings=64)


def test_vmap_of_networks(draw):
    x, w, u, bias, h0, c0 = (jnp.asarray(a) for a in make(draw, "lstm"))
    many = jnp.stack([x, 2 * x, -x])
    lengths = jnp.asarray([[1, 2, 3], [5, 5, 5], [0, 1, 0]], jnp.int32)
    expected = [scan("lstm", a, w, u, bias, h0, c0, lengths=n) for a, n in zip(many, lengths)]
    got = jax.vmap(lambda x, n: ours("lstm", x, w, u, bias, h0, c0, n))(many, lengths)
    for i in range(3):
        close([part[i] for part in got], expected[i])
    assert jax.jit(jax.vmap(lambda x: ours("lstm", x, w, u, bias, h0, c0))).lower(many).as_text().count(
        "custom_call @quern(") == 1, "one call for all"
    scaled = jnp.stack([w, 0.5 * w])
    got = jax.vmap(lambda w: ours("lstm", x, w, u, bias, h0, c0)[0])(scaled)
    close(got, jnp.stack([scan("lstm", x, a, u, bias, h0, c0)[0] for a in scaled]))

    def loss(function):
        return lambda w, x: (function("lstm", x, w, u, bias, h0, c0)[0] ** 2).sum()
    close(jax.vmap(jax.grad(loss(ours)), (None, 0))(w, many), jax.vmap(jax.grad(loss(scan)), (None, 0))(w, many))
    close(jax.grad(lambda w: jax.vmap(lambda x: loss(ours)(w, x))(many).sum())(w),
          jax.grad(lambda w: jax.vmap(lambda x: loss(scan)(w, x))(many).sum())(w))


def test_narrow_networks(draw):
    x, w, u, bias, h0, c0 = (jnp.asarray(a) for a in make(draw, "lstm", type="bfloat16"))
    y, h, c = ours("lstm", x, w, u, bias, h0, c0)
    assert (y.dtype, h.dtype, c.dtype) == (jnp.bfloat16, jnp.bfloat16, jnp.float32)
    wide = [a.astype(jnp.float32) for a in (x, w, u, bias, h0, c0)]
    close(y.astype(jnp.float32), scan("lstm", *wide)[0], 0.05)
    gradient = jax.grad(lambda w: ours("lstm", x, w, u, bias, h0, c0)[0].astype(jnp.float32).sum())(w)
    assert gradient.dtype == jnp.bfloat16
    close(gradient.astype(jnp.float32), jax.grad(lambda w: scan("lstm", wide[0], w, *wide[2:])[0].sum())(wide[1]), 0.3)


def test_functions_of_ones_own(draw):
    x, by = draw.standard_normal((8, 16)).astype("f"), draw.standard_normal(16).astype("f")
    assert numpy.array_equal(quern.jax.call(SCALE, x, by), x * by)
    assert numpy.array_equal(jax.jit(lambda x, by: quern.jax.call(SCALE, x, by, function="scale") + 1)(x, by),
                             x * by + 1)
    many = jnp.stack([x, -x])
    assert numpy.array_equal(jax.vmap(lambda x: quern.jax.call(SCALE, x, by))(many), many * by)
    for arrays in [(x,), (x, x), (x.astype(numpy.int32), by)]:
        with pytest.raises(quern.Error):
            quern.jax.call(SCALE, *arrays)
    with pytest.raises(quern.Error, match="static"):
        sized = "%zero = arith.constant 0 : index\n %n = tensor.dim %x, %zero : tensor<?x16xf32>\n %empty"
        quern.jax.call(SCALE.replace("8x16", "?x16").replace("tensor.empty()", "tensor.empty(%n)").replace(
            "%empty", sized, 1), x, by)


def test_errors(draw):
    x = jnp.zeros((2, 3))
    with pytest.raises(quern.Error, match="-2 to 1"):
        quern.jax.softmax(x, 2)
    with pytest.raises(quern.Error, match="3"):
        quern.jax.lstm(x, x, x)
    with pytest.raises(Exception, match="rnn C"):
        _, w, u, *_ = make(draw, "lstm")
        quern.jax.lstm(jnp.zeros((5, 3, 9)), w, u)
    # Errors in direct calls of the FFI target.
    line = "softmax fwd_i src=f32:2x3:ab dst=f32:2x3:ab axis=1"
    for operand, arguments in [(jnp.zeros((2, 4)), [1, 17]), (x, [1]), (x, [1, 18])]:
        with pytest.raises(Exception, match="quern"):
            jax.ffi.ffi_call("quern", operand)(operand, line=line, arguments=numpy.array(arguments, numpy.int32))


def test_one_executable_in_many_threads(draw):
    x = jnp.asarray(draw.standard_normal((256, 1000)).astype("f"))
    function = jax.jit(quern.jax.softmax)
    expected = numpy.asarray(function(x))
    before = quern.cache.statistics()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: numpy.array_equal(function(x), expected), range(200)))
    assert quern.cache.statistics() == before, "the executable keeps the kernel"


def test_arrays_of_jax(draw):
    for type in [jnp.float32, jnp.bfloat16]:
        x = jnp.asarray(draw.standard_normal((4, 9))).astype(type)
        y = quern.softmax(x)
        assert isinstance(y, jax.Array) and y.dtype == type
        near(y, references.softmax(numpy.asarray(x), -1))
    near(quern.softmax(numpy.asarray(x.astype(jnp.float32))), references.softmax(numpy.asarray(x), -1))


def test_registration_from_c():
    """Calls quern_xla_register() with the API of the loaded XLA, in a process that does not import quern.jax."""
    program = """
import ctypes, os, sys, jax, jax.numpy as jnp, numpy
library = ctypes.CDLL(os.path.join(sys.argv[1], "lib", "libquern-xla.so"))
found = []
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def probe(frame):
    found.append(ctypes.c_void_p.from_address(frame + 16).value)  # XLA_FFI_CallFrame::api
    library.quern_xla_execute.restype = ctypes.c_void_p
    return library.quern_xla_execute(ctypes.c_void_p(frame))
jax.devices()
try:
    jax.ffi.register_ffi_target("probe", jax.ffi.pycapsule(probe), platform="cpu")
except Exception:
    pass
assert found, "the handler was asked for its metadata"
assert library.quern_xla_register(None) == 2
assert library.quern_xla_register(ctypes.c_void_p(found[0])) == 0
assert library.quern_xla_register(ctypes.c_void_p(found[0])) == 0, "the same again"
x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
y = jax.ffi.ffi_call("quern", x)(x, line="softmax fwd_i src=f32:2x3:ab dst=f32:2x3:ab axis=1",
                                 arguments=numpy.array([1, 17], numpy.int32))
assert abs(y - jax.nn.softmax(x)).max() < 1e-6
"""
    subprocess.run([sys.executable, "-c", program, os.path.dirname(quern.__file__)], check=True)


def test_memory_over_ten_thousand_calls(draw):
    x = jnp.asarray(draw.standard_normal((8, 64)).astype("f"))
    function = jax.jit(jax.value_and_grad(lambda x: (quern.jax.softmax(x) ** 2).sum()))
    keeps_no_memory(lambda: jax.block_until_ready(function(x)))
    arrays = [jnp.asarray(a) for a in make(draw, "lstm", sizes=(5, 3, 8, 8))]
    network = jax.jit(lambda *a: ours("lstm", *a))
    keeps_no_memory(lambda: jax.block_until_ready(network(*arrays)))


@pytest.mark.parametrize("cell", ["lstm", "gru", "lbr_gru", "rnn"])
@pytest.mark.parametrize("sizes", [(0, 3, 8, 8), (5, 3, 0, 8)], ids=str)
def test_networks_without_steps_or_inputs(draw, cell, sizes):
    """The results are correct and differentiable, and no uninitialized memory is returned."""
    given = [jnp.asarray(array) for array in make(draw, cell, sizes=sizes) if array is not None]
    expected = [r for r in references.rnn(cell, *map(numpy.asarray, given))][:3 if cell == "lstm" else 2]
    for call in (lambda *a: ours(cell, *a), jax.jit(lambda *a: ours(cell, *a))):
        for found, wanted in zip(call(*given), expected, strict=True):
            assert found.shape == wanted.shape
            numpy.testing.assert_allclose(numpy.asarray(found, float), wanted, rtol=1e-4, atol=1e-4)

    def loss(*arrays):
        return sum((result ** 2).sum() for result in ours(cell, *arrays))
    gradients = jax.grad(loss, tuple(range(len(given))))(*given)
    assert [g.shape for g in gradients] == [array.shape for array in given]
    if sizes[0] == 0:
        assert not any(numpy.asarray(g).any() for g in gradients[1:4])
        close(gradients[4], 2 * given[4])


def test_softmax_of_integers():
    x = jnp.asarray([[1, 0, 3]], jnp.int8)
    assert quern.jax.softmax(x).dtype == jnp.float32
    close(quern.jax.softmax(x), jax.nn.softmax(x.astype(jnp.float32)))
    with pytest.raises(TypeError, match="axis is None"):
        quern.jax.softmax(x, None)
