# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in JAX: functions for jit, vmap and grad on the CPU.

    y = quern.jax.softmax(x)
    y, h, c = quern.jax.lstm(x, w, u, bias)

Each is a custom call of XLA. Its kernel is created when XLA compiles the program, and runs on XLA's threads.
"""

import ctypes
import functools
import os

import jax
import jax.numpy as jnp
import numpy
from jax import custom_batching

from quern import _checks, _quern
from quern._arguments import DIFF_DST, DIFF_SRC, DST, MULTIPLE_DST, MULTIPLE_SRC, RNN_INDEX, SRC, WORKSPACE
from quern._errors import Error
from quern._frameworks import numpy_dtype, type_name
from quern._rnn import (INPUTS, OUTPUTS, OVERWRITE, STACK_CONCATENATED, filled, has_no_kernel, result_shapes,
                        rnn_line)

_LIBRARY = os.path.join(os.path.dirname(__file__), "lib", "libquern-xla.so")


def _register():
    if not os.path.exists(_LIBRARY):
        raise ImportError("this package was built without jaxlib's headers: build it where jaxlib is installed")
    jax.devices()  # jaxlib registers queued types and targets in any order
    library = ctypes.CDLL(_LIBRARY)
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    pointers = {}
    for name in ("type_id", "type_info"):
        function = getattr(library, "quern_xla_" + name)
        function.restype = ctypes.c_void_p
        pointers[name] = capsule(function(), None, None)
    jax.ffi.register_ffi_type("quern.kernel", pointers, platform="cpu")
    jax.ffi.register_ffi_target("quern", {stage: jax.ffi.pycapsule(getattr(library, "quern_xla_" + stage))
                                          for stage in ("instantiate", "execute")}, platform="cpu")


_register()


def _call(line, indices, operands, results, aliases=None):
    """Emits the custom call; `results` are (type, dims)."""
    shapes = [jax.ShapeDtypeStruct(dims, numpy_dtype(type)) for type, dims in results]
    call = jax.ffi.ffi_call("quern", shapes, vmap_method="sequential", input_output_aliases=aliases)
    return call(*operands, line=line, arguments=numpy.array(indices, numpy.int32))


def _text(array):
    """Returns the text of a dense row-major tensor, the layout of XLA's arrays."""
    return _quern.Tensor(type_name(array.dtype), array.shape).text


def _elementwise(function):
    """Returns `function` with a rule for vmap that passes an additional leading dim to all its arrays."""
    mapped = custom_batching.custom_vmap(function)

    @mapped.def_vmap
    def rule(size, are_mapped, *arrays):  # pylint: disable=unused-variable
        grown = [array if is_mapped else jnp.broadcast_to(array, (size, *array.shape))
                 for array, is_mapped in zip(arrays, are_mapped)]
        return mapped(*grown), True
    return mapped


# --- Softmax and elementwise functions ---


@functools.cache
def _softmax(algorithm, axis, donate):
    @_elementwise
    def forward(x):
        text = _text(x)
        line = f"softmax fwd_i alg={algorithm} src={text} dst={text} axis={x.ndim + axis}"
        return _call(line, [SRC, DST], [x], [(type_name(x.dtype), x.shape)], {0: 0} if donate else None)[0]

    @_elementwise
    def gradient(y, dy):
        text = _text(y)
        line = f"softmax bwd_d alg={algorithm} dst={text} diff_src={text} diff_dst={text} axis={y.ndim + axis}"
        return _call(line, [DST, DIFF_DST, DIFF_SRC], [y, dy], [(type_name(y.dtype), y.shape)])[0]

    function = jax.custom_vjp(forward)

    def keep(x):
        y = forward(x)
        return y, y
    function.defvjp(keep, lambda y, dy: (gradient(y, dy),))
    return function


def _along(algorithm, x, axis, donate):
    x, axis = jnp.asarray(x), _checks.index("axis", axis)
    if jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == bool:
        x = x.astype(jnp.float32)
    if x.ndim == 0 or not -x.ndim <= axis < x.ndim:
        raise Error(f"axis is {axis}; an array of {x.ndim} dims allows {-x.ndim} to {x.ndim - 1}")
    return _softmax(algorithm, axis if axis < 0 else axis - x.ndim, donate)(x)


def softmax(x, axis=-1, *, donate=False):
    """Like `jax.nn.softmax` for f64, f32, bf16 or f16, with its gradient; integers become f32.

    Args:
        x: array of 1 to 12 dims.
        axis: the axis of the sum.
        donate: the result may reuse the memory of `x`, if XLA does not need `x` otherwise.
    """
    return _along("accurate", x, axis, donate)


def log_softmax(x, axis=-1, *, donate=False):
    """Like `jax.nn.log_softmax`; see `softmax`."""
    return _along("log", x, axis, donate)


@functools.cache
def _eltwise(algorithm, alpha, beta):
    head = f"alg={algorithm} alpha={alpha} beta={beta}"
    is_result = algorithm.endswith("_use_dst_for_bwd")
    data, index = ("dst", DST) if is_result else ("src", SRC)

    @_elementwise
    def forward(x):
        text = _text(x)
        return _call(f"eltwise fwd_i {head} src={text} dst={text}", [SRC, DST], [x],
                     [(type_name(x.dtype), x.shape)])[0]

    @_elementwise
    def gradient(x, dy):
        text = _text(x)
        return _call(f"eltwise bwd_d {head} {data}={text} diff_src={text} diff_dst={text}",
                     [index, DIFF_DST, DIFF_SRC], [x, dy], [(type_name(x.dtype), x.shape)])[0]

    function = jax.custom_vjp(forward)

    def keep(x):
        y = forward(x)
        return y, y if is_result else x
    function.defvjp(keep, lambda kept, dy: (gradient(kept, dy),))
    return function


def eltwise(x, algorithm, alpha=0.0, beta=0.0):
    """Applies a function to each element, with a gradient; see `quern.eltwise` for `algorithm` and its parameters."""
    return _eltwise(algorithm, float(alpha), float(beta))(jnp.asarray(x))


# --- Recurrent networks ---

_STATES = ("src_layer", "src_iter", "src_iter_c", "attention", "seq_lengths")  # have a batch dim


def _rnn_forward(parameters, training, arrays):
    """Returns the results by name: dst_layer, dst_iter, dst_iter_c of an LSTM, and a workspace in training."""
    shapes = {name: (type_name(array.dtype), array.shape) for name, array in arrays.items()}
    results = dict(zip(OUTPUTS, result_shapes(parameters, shapes)))
    results = {name: shape for name, shape in results.items() if shape}
    texts = {name: _text(array) for name, array in arrays.items()}
    texts |= {name: _quern.Tensor(*shape).text for name, shape in results.items()}
    line = rnn_line("fwd_t" if training else "fwd_i", parameters, texts)
    if training:
        results["workspace"] = ("u8", _quern.Descriptor.from_text(line).layout(WORKSPACE).dims)
    made = _call(line, [RNN_INDEX[name] for name in (*arrays, *results)], list(arrays.values()),
                 list(results.values()))
    return dict(zip(results, made))


def _rnn_backward(parameters, wanted, arrays):
    """Returns f32 gradients by name; `arrays` has the inputs and results of forward, and the gradients of the
    results."""
    cell, direction, activation, alpha, flags = parameters
    results = {name: ("f32", arrays[name.removeprefix("diff_")].shape) for name in wanted}
    texts = {name: _text(array) for name, array in arrays.items() if name != "workspace"}
    texts |= {name: _quern.Tensor(*shape).text for name, shape in results.items()}
    line = rnn_line("bwd", (cell, direction, activation, alpha, flags | OVERWRITE), texts)
    made = _call(line, [RNN_INDEX[name] for name in (*arrays, *results)], list(arrays.values()),
                 list(results.values()))
    return dict(zip(results, made))


def _batch_axis(name):
    return {"seq_lengths": 0, "src_layer": 1, "attention": 1, "dst_layer": 1}.get(name, 2)


def _merged(size, name, array, is_mapped):
    """Returns a mapped array with its first dim merged into the batch dim."""
    if not is_mapped:
        array = jnp.broadcast_to(array, (size, *array.shape))
    axis = _batch_axis(name)
    moved = jnp.moveaxis(array, 0, axis)
    return moved.reshape(*moved.shape[:axis], -1, *moved.shape[axis + 2:])


def _split(size, name, array):
    axis = _batch_axis(name)
    return jnp.moveaxis(array.reshape(*array.shape[:axis], size, -1, *array.shape[axis + 1:]), axis, 0)


def _mappable_forward(parameters, training):
    """Returns forward for vmap: a single call if the weights are the same for all and there is no workspace."""
    function = functools.partial(_rnn_forward, parameters, training)
    mapped = custom_batching.custom_vmap(function)

    @mapped.def_vmap
    def rule(size, are_mapped, arrays):  # pylint: disable=unused-variable
        are_mapped = are_mapped[0] if isinstance(are_mapped, (list, tuple)) else are_mapped
        if training or any(are_mapped[name] for name in arrays if name not in _STATES):
            varying = {name: array for name, array in arrays.items() if are_mapped[name]}
            fixed = {name: array for name, array in arrays.items() if not are_mapped[name]}
            results = jax.lax.map(lambda some: function({name: (fixed | some)[name] for name in arrays}), varying)
        else:
            merged = {name: _merged(size, name, array, are_mapped[name]) if name in _STATES else array
                      for name, array in arrays.items()}
            results = {name: _split(size, name, array) for name, array in mapped(merged).items()}
        return results, jax.tree.map(lambda _: True, results)
    return mapped


@functools.cache
def _network(parameters):
    infer, train = (_mappable_forward(parameters, training) for training in (False, True))

    def in_order(results):
        return tuple(results[name] for name in OUTPUTS if name in results)

    @jax.custom_vjp
    def function(arrays):
        return in_order(infer(arrays))

    def keep(arrays):
        wanted = tuple("diff_" + name for name in arrays if arrays[name].perturbed and name != "seq_lengths")
        arrays = {name: array.value for name, array in arrays.items()}
        results = train(arrays)
        # `wanted` must be known when the function is traced, so it is passed as the structure of a tree.
        return in_order(results), (arrays, results, dict.fromkeys(wanted))

    def gradients(kept, cotangents):
        arrays, results, wanted = kept
        given = {"diff_" + name: cotangent.astype(jnp.float32)
                 for name, cotangent in zip((name for name in OUTPUTS if name in results), cotangents)
                 if not isinstance(cotangent, jax.custom_derivatives.SymbolicZero)}
        given.setdefault("diff_dst_layer", jnp.zeros(results["dst_layer"].shape, jnp.float32))
        backward = custom_batching.sequential_vmap(functools.partial(_rnn_backward, parameters, tuple(wanted)))
        made = backward(arrays | results | given) if wanted else {}

        def of(name, array):
            if "diff_" + name in made:
                return made["diff_" + name].astype(array.dtype)
            if jnp.issubdtype(array.dtype, jnp.integer):
                return numpy.zeros(array.shape, jax.dtypes.float0)
            return jnp.zeros(array.shape, array.dtype)
        return ({name: of(name, array) for name, array in arrays.items()},)

    function.defvjp(keep, gradients, symbolic_zeros=True)
    return function


def _run(parameters, arrays):
    there = {name: jnp.asarray(array) for name, array in zip(INPUTS, arrays) if array is not None}
    shapes = dict.fromkeys(INPUTS) | {name: (type_name(array.dtype), array.shape) for name, array in there.items()}
    result_shapes(parameters, {name: shapes[name] for name in there})  # fails if ranks do not fit
    if not has_no_kernel(shapes):
        return _network(parameters)(there)
    y, *states = _network(parameters)(filled(shapes, there))
    return y[:shapes["src_layer"][1][0]], *states


def _flags(stacked):
    return STACK_CONCATENATED if stacked else 0


def lstm(x, w, u, bias=None, h0=None, c0=None, *, peephole=None, projection=None, lengths=None,
         direction="left2right", stacked=False):
    """Computes an LSTM over a batch of sequences, with gradients; see `quern.lstm` for arguments and results.

    vmap over `x`, states and lengths is one call; vmap over weights, or of a gradient, is one call per index.
    """
    return _run(("lstm", direction, None, 0.0, _flags(stacked)),
                (x, h0, c0, None, lengths, w, u, peephole, projection, bias))


def gru(x, w, u, bias=None, h0=None, *, linear_before_reset=False, attention=None, lengths=None,
        direction="left2right", stacked=False):
    """Computes a GRU over a batch of sequences, with gradients; see `quern.gru` for arguments and results."""
    cell = ("lbr_" if linear_before_reset else "") + ("gru" if attention is None else "augru")
    return _run((cell, direction, None, 0.0, _flags(stacked)),
                (x, h0, None, attention, lengths, w, u, None, None, bias))


def rnn(x, w, u, bias=None, h0=None, *, activation="tanh", alpha=0.0, lengths=None, direction="left2right",
        stacked=False):
    """Computes a plain recurrent network, with gradients; see `quern.rnn` for arguments and results."""
    return _run(("rnn", direction, activation, float(alpha), _flags(stacked)),
                (x, h0, None, None, lengths, w, u, None, None, bias))


# --- Functions of the caller ---


@functools.lru_cache(256)
def _function(module, name):
    module = module.encode() if isinstance(module, str) else module
    descriptor = _quern.Descriptor.from_mlir(module, name, False)
    uses = descriptor.text.partition(" uses=")[2].partition(" ")[0]
    if not set(uses) <= {"r", "R"}:
        raise Error("a function for XLA takes tensors and returns tensors; this one writes an argument", 3)
    counts = uses.count("r"), uses.count("R")
    indices = [MULTIPLE_SRC + i for i in range(counts[0])] + [MULTIPLE_DST + i for i in range(counts[1])]
    layouts = [descriptor.layout(index) for index in indices]
    if any(layout.is_open for layout in layouts):
        raise Error("a function for XLA has static shapes; this one has a '?'", 3)
    return descriptor.text, indices, counts[0], layouts


def call(module, *arrays, function=None):
    """Calls a function in MLIR, of linalg on tensors, as a JAX operation.

    Args:
        module: text or bytecode; docs/embedding.md lists the supported functions. Their shapes must be static.
        *arrays: its arguments, with exactly its shapes and types.
        function: its name; None if the module has one public function.

    Returns:
        The function's result: an array, or a tuple of them. It has no gradient; vmap calls it for each index.
    """
    line, indices, count, layouts = _function(module, function)
    if len(arrays) != count:
        raise Error(f"the function takes {count} arrays, not {len(arrays)}")
    arrays = [jnp.asarray(array) for array in arrays]
    for i, (array, layout) in enumerate(zip(arrays, layouts)):
        if (type_name(array.dtype), array.shape) != (layout.type, layout.dims):
            raise Error(f"argument {i} is {_text(array)}; the function takes {layout.type} of {layout.dims}")
    results = _call(line, indices, arrays, [(layout.type, layout.dims) for layout in layouts[count:]])
    return results[0] if len(results) == 1 else tuple(results)


__all__ = ["softmax", "log_softmax", "eltwise", "lstm", "gru", "rnn", "call"]
