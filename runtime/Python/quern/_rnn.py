# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent networks: functions of arrays, forward and backward, and layers that keep their weights packed."""

import collections
import functools
import re
import weakref

import numpy

from quern import _checks, _quern
from quern._arguments import DST, RNN_INDEX, SRC, WORKSPACE
from quern._errors import Error
from quern._frameworks import numpy_empty, zeros
from quern._functions import plan, reorder
from quern._quern import Tensor

INPUTS = ("src_layer", "src_iter", "src_iter_c", "attention", "seq_lengths", "weights_layer", "weights_iter",
          "weights_peephole", "weights_projection", "bias")
OUTPUTS = ("dst_layer", "dst_iter", "dst_iter_c")
GRADIENTS = tuple("diff_" + name for name in INPUTS if name != "seq_lengths")
RANKS = {"src_layer": 3, "src_iter": 4, "src_iter_c": 4, "attention": 3, "seq_lengths": 1, "weights_layer": 5,
         "weights_iter": 5, "weights_peephole": 4, "weights_projection": 4, "bias": 4}
GATES = {"rnn": 1, "lstm": 4, "gru": 3, "lbr_gru": 3, "augru": 3, "lbr_augru": 3}
OVERWRITE, STACK_CONCATENATED = 1, 65536


def rnn_line(prop, parameters, tensors):
    """Returns the text form of a problem.

    Args:
        prop: "fwd_i", "fwd_t" or "bwd".
        parameters: (cell, direction, activation or None, alpha, flags).
        tensors: text forms by name; absent tensors are missing or None.
    """
    cell, direction, activation, alpha, flags = parameters
    fields = ["rnn", prop, f"cell={cell}", f"direction={direction}"]
    if activation:
        fields += [f"activation={activation}", f"alpha={alpha}"]
    if flags:
        fields.append(f"flags={flags}")
    fields += [f"{name}={text}" for name, text in tensors.items() if text]
    return " ".join(fields)


def result_shapes(parameters, tensors):
    """Returns (type, dims) of dst_layer, dst_iter and dst_iter_c (None except for lstm) from those of the inputs."""
    cell, direction = parameters[:2]
    for name, tensor in tensors.items():
        if tensor and len(tensor[1]) != RANKS[name]:
            raise Error(f"{name} has {len(tensor[1])} dims; it must have {RANKS[name]}")
    if cell not in GATES:
        raise Error(f"'{cell}' is not a cell; {', '.join(GATES)} are supported")
    type, (steps, batch, _) = tensors["src_layer"]
    layers, directions, _, _, hidden = tensors["weights_layer"][1]
    projection = tensors.get("weights_projection")
    states = projection[1][3] if projection else hidden
    width = 2 * states if direction == "bidirectional_concat" else states
    cells = None
    if cell == "lstm":
        initial = tensors.get("src_iter_c")
        cells = (initial[0] if initial else "f32", (layers, directions, batch, hidden))
    return (type, (steps, batch, width)), (type, (layers, directions, batch, states)), cells


def _shape(tensor):
    return tensor and (tensor.type, tensor.dims)


def _text(tensor):
    return tensor and tensor.text


def _require(given, parameters):
    """Fails if a required argument is None or has the wrong type."""
    _checks.arrays(("x", "w", "u"), (given["src_layer"], given["weights_layer"], given["weights_iter"]))
    cell, direction, activation = parameters[:3]
    _checks.text("cell", cell)
    _checks.text("direction", direction)
    if cell == "rnn":
        _checks.text("activation", activation)


def _plan_forward(tensors, outs, *parameters, layer=None):
    """Builds the plan of a forward call. `layer` is the _Layer whose weights are passed as packed bytes."""
    *parameters, training = parameters
    given = dict(zip(INPUTS, tensors))
    _require(given, parameters)
    packed = layer.packed if layer else {}
    shapes = {name: packed[name].shape if name in packed else _shape(tensor) for name, tensor in given.items()}
    made = [shape and Tensor(*shape) for shape in result_shapes(parameters, shapes)]
    results = [out or tensor for out, tensor in zip(outs, made)]
    if has_no_kernel(shapes):
        if results[0].dims != made[0].dims:
            raise Error(f"y has dims {results[0].dims}; the result has dims {made[0].dims}")
        return functools.partial(_forward_of_nothing, shapes, made[0], layer)
    texts = {name: packed[name].text if name in packed else _text(tensor) for name, tensor in given.items()}
    texts |= zip(OUTPUTS, map(_text, results))
    descriptor = _quern.Descriptor.from_text(rnn_line("fwd_t" if training else "fwd_i", parameters, texts))
    workspace = descriptor.layout(WORKSPACE) if training else None
    results.append(workspace and Tensor("u8", workspace.dims))
    indices = [RNN_INDEX[name] for name in (*OUTPUTS, "workspace")]
    return plan(descriptor, [RNN_INDEX[name] if tensor else -1 for name, tensor in given.items()],
                list(zip(indices, results)))


_forward = _quern.Function(len(INPUTS), 4, _plan_forward)

# Inputs of backward: the tensors of forward, then the gradients of its results.
BACKWARD_INPUTS = (*INPUTS, *OUTPUTS, "workspace", *("diff_" + name for name in OUTPUTS))


def _plan_backward(tensors, outs, *parameters):
    *parameters, wanted = parameters
    given = dict(zip(BACKWARD_INPUTS, tensors))
    _require(given, parameters)
    _checks.arrays(("y", "workspace", "dy"), [given[name] for name in ("dst_layer", "workspace", "diff_dst_layer")])
    shapes = {name: _shape(tensor) for name, tensor in given.items()}
    result_shapes(parameters, {name: shapes[name] for name in INPUTS})  # fails if ranks do not fit
    if has_no_kernel(shapes):
        return functools.partial(_backward_of_nothing, shapes)
    results = []
    for name, out in zip(GRADIENTS, outs):
        source = given[name.removeprefix("diff_")]
        results.append((out or Tensor("f32", source.dims)) if name in wanted and source else None)
    texts = {name: _text(tensor) for name, tensor in given.items() if name != "workspace"}
    texts |= zip(GRADIENTS, map(_text, results))
    inputs = [RNN_INDEX[name] if tensor else -1 for name, tensor in given.items()]
    return plan(rnn_line("bwd", parameters, texts), inputs,
                [(RNN_INDEX[name], result) for name, result in zip(GRADIENTS, results)])


_backward = _quern.Function(len(BACKWARD_INPUTS), len(GRADIENTS), _plan_backward)



# --- Sizes of 0 -------------------------------------------------------------------------------------------------------
#
# The primitive writes nothing if a size is 0. Without steps the results are the initial states, which are also the
# results of one step if all lengths are 0. An input without channels contributes nothing, like one channel of zeros.

_OF_STEPS = ("src_layer", "attention", "dst_layer", "diff_dst_layer")


def has_no_kernel(shapes):
    """Returns whether results have elements that the primitive does not write; `shapes` has (type, dims) by name."""
    (steps, batch, inputs), weights = shapes["src_layer"][1], shapes["weights_layer"][1]
    projection = shapes["weights_projection"]
    if projection and projection[1][3] == 0 < weights[4]:
        raise Error("projection has 0 channels; it must have at least 1", 3)
    if 0 not in (steps, inputs) or batch == 0 or weights[4] == 0:
        return False
    if weights[2] != inputs:
        raise Error(f"w has {weights[2]} inputs; x has {inputs}")
    for name in _OF_STEPS:
        if shapes.get(name) and shapes[name][1][:2] != (steps, batch):
            raise Error(f"{name} has dims {shapes[name][1]}; the first ones must be {steps} and {batch}")
    if shapes["seq_lengths"] and shapes["seq_lengths"] != ("s32", (batch,)):
        raise Error(f"lengths are {shapes['seq_lengths']}; they must be s32 of {batch}")
    return True


def filled(shapes, arrays):
    """Returns the arrays by name, with zeros in place of arrays that have a size of 0."""
    (steps, batch, inputs), weights = shapes["src_layer"][1], shapes["weights_layer"][1]
    dims = {name: (steps or 1, batch, shapes[name][1][2] or 1) for name in _OF_STEPS
            if shapes.get(name) and 0 in (steps, shapes[name][1][2])}
    if inputs == 0:
        dims["weights_layer"] = (*weights[:2], 1, *weights[3:])
    made = {name: zeros(arrays["src_layer"], shapes[name][0], size) for name, size in dims.items()}
    if steps == 0:
        made["seq_lengths"] = zeros(arrays["src_layer"], "s32", (batch,))
    return arrays | made


def _forward_of_nothing(shapes, result, layer, *arguments):
    """Computes `_forward` for 0 steps or 0 channels.

    Args:
        result: the Tensor of dst_layer.
        layer: the _Layer whose weights are passed as packed bytes, or None.
    """
    count = len(INPUTS)
    arrays, (y, *outs), parameters = dict(zip(INPUTS, arguments)), arguments[count:count + 4], arguments[count + 4:]
    arrays = filled(shapes, arrays | (layer.plain_weights() if layer else {}))
    steps = shapes["src_layer"][1][0]
    first, *rest = _forward(*arrays.values(), y if steps else None, *outs, *parameters)
    if steps == 0:
        first = zeros(arguments[0], result.type, result.dims) if y is None else y
    return first, *rest


def _backward_of_nothing(shapes, *arguments):
    """Computes `_backward` for 0 steps or 0 channels, and returns new arrays."""
    count = len(BACKWARD_INPUTS)
    arrays = filled(shapes, dict(zip(BACKWARD_INPUTS, arguments)))
    results = dict(zip(GRADIENTS, _backward(*arrays.values(), *NO_OUTS, *arguments[count + len(GRADIENTS):])))
    for name, gradient in results.items():
        if gradient is not None:
            results[name] = gradient[tuple(map(slice, shapes[name.removeprefix("diff_")][1]))]
    return tuple(results.values())


def clear():
    """Discards the kernels of the functions."""
    _forward.clear()
    _backward.clear()


NO_OUTS = (None,) * len(GRADIENTS)
SHORT = {"x": "src_layer", "h0": "src_iter", "c0": "src_iter_c", "attention": "attention", "w": "weights_layer",
         "u": "weights_iter", "peephole": "weights_peephole", "projection": "weights_projection", "bias": "bias"}


def _flags(stacked):
    return STACK_CONCATENATED if stacked else 0


def lstm(x, w, u, bias=None, h0=None, c0=None, *, peephole=None, projection=None, lengths=None,
         direction="left2right", stacked=False, training=False, out=(None, None, None)):
    """Computes an LSTM over a batch of sequences. Gates are i, f, c~, o; see docs/primitives/rnn.md for the equations.

    L layers, D directions (2 if bidirectional), T steps, N sequences, I inputs, H cells, P states (H without a
    projection).

    Args:
        x: [T, N, I] of f32, bf16 or f16. All arrays may have any strides.
        w: input weights [L, D, I, 4, H], of the type of `x`. (`weights` returns such a view of PyTorch's [4 H, I].)
        u: weights of the states [L, D, P, 4, H].
        bias: [L, D, 4, H] of f32, or of the type of `x`.
        h0, c0: initial states, [L, D, N, P] and [L, D, N, H]; both, or neither for zeros.
        peephole: [L, D, 3, H] for i, f, o.
        projection: [L, D, H, P].
        lengths: int32 [N]: the steps of each sequence; results are 0 after its end.
        direction: "left2right", "right2left", "bidirectional_concat" or "bidirectional_sum".
        stacked: each layer reads both directions of the layer below, as in PyTorch.
        training: also returns a workspace for `rnn_backward`.
        out: destinations for y, h and c, each an array or None.

    Returns:
        (y, h, c) or (y, h, c, workspace): y [T, N, P], or [T, N, 2 P] for "bidirectional_concat"; h [L, D, N, P]; c
        [L, D, N, H] of f32, or of the type of `c0`; the workspace is an array of bytes.

    Raises:
        quern.Error: shapes or types do not fit; the message has the constraint's number.
    """
    out = _checks.results(out, 3)
    results = _forward(x, h0, c0, None, lengths, w, u, peephole, projection, bias, *out, None, "lstm", direction, None,
                       0.0, _flags(stacked), training)
    return results if training else results[:3]


def gru(x, w, u, bias=None, h0=None, *, linear_before_reset=False, attention=None, lengths=None,
        direction="left2right", stacked=False, training=False, out=(None, None)):
    """Computes a GRU over a batch of sequences. Gates are u, r, o; see docs/primitives/rnn.md for the equations.

    Args:
        x, h0, lengths, direction, stacked, training: see `lstm`.
        w, u: [L, D, I, 3, H] and [L, D, H, 3, H].
        bias: [L, D, 3, H]; with linear_before_reset [L, D, 4, H].
        linear_before_reset: the reset gate is applied after the product with `u`, as in PyTorch and Keras.
        attention: [T, N, 1], which makes it an AUGRU.
        out: destinations for y and h, each an array or None.

    Returns:
        (y, h) or (y, h, workspace).
    """
    cell = ("lbr_" if linear_before_reset else "") + ("gru" if attention is None else "augru")
    out = _checks.results(out, 2)
    y, h, _, workspace = _forward(x, h0, None, attention, lengths, w, u, None, None, bias, *out, None, None, cell,
                                  direction, None, 0.0, _flags(stacked), training)
    return (y, h, workspace) if training else (y, h)


def rnn(x, w, u, bias=None, h0=None, *, activation="tanh", alpha=0.0, lengths=None, direction="left2right",
        stacked=False, training=False, out=(None, None)):
    """Computes a plain recurrent network: h' = activation(w x + u h + bias).

    Args:
        x, h0, lengths, direction, stacked, training: see `lstm`.
        w, u, bias: [L, D, I, 1, H], [L, D, H, 1, H] and [L, D, 1, H].
        activation: "tanh", "relu" (with slope `alpha` below 0) or "logistic".
        out: destinations for y and h, each an array or None.

    Returns:
        (y, h) or (y, h, workspace).
    """
    out = _checks.results(out, 2)
    y, h, _, workspace = _forward(x, h0, None, None, lengths, w, u, None, None, bias, *out, None, None, "rnn",
                                  direction, activation, _checks.number("alpha", alpha), _flags(stacked), training)
    return (y, h, workspace) if training else (y, h)


def rnn_backward(cell, x, w, u, y, h, workspace, dy, *, c=None, bias=None, h0=None, c0=None, dh=None, dc=None,
                 peephole=None, projection=None, attention=None, lengths=None, direction="left2right", stacked=False,
                 activation="tanh", alpha=0.0, wanted=None):
    """Computes the gradients of `rnn`, `lstm` and `gru`.

    Args:
        cell: "rnn", "lstm", "gru", "lbr_gru" (linear before reset), "augru" or "lbr_augru".
        x, w, u, bias, h0, c0, peephole, projection, attention, lengths, direction, stacked, activation, alpha: the
            arguments of the forward call.
        y, h, c, workspace: its results with `training`.
        dy, dh, dc: gradients of y, h and c, f32 of their shapes; dh and dc may be None, which means zeros.
        wanted: names of the gradients to compute, of "x", "w", "u", "bias", "h0", "c0", "peephole", "projection" and
            "attention"; by default those of all arrays that are not None.

    Returns:
        A dict from these names to arrays of f32, each with the shape of the array whose gradient it is.
    """
    given = dict(zip(SHORT, (x, h0, c0, attention, w, u, peephole, projection, bias)))
    names = [name for name, array in given.items() if array is not None and (wanted is None or name in wanted)]
    parameters = (cell, direction, activation if cell == "rnn" else None, _checks.number("alpha", alpha),
                  _flags(stacked) | OVERWRITE)
    results = _backward(x, h0, c0, attention, lengths, w, u, peephole, projection, bias, y, h, c, workspace, dy, dh,
                        dc, *NO_OUTS, *parameters, tuple("diff_" + SHORT[name] for name in names))
    by_name = dict(zip(GRADIENTS, results))
    return {name: by_name["diff_" + SHORT[name]] for name in names}


def weights(cell, weight_ih, weight_hh, bias_ih=None, bias_hh=None, *, projection=None):
    """Converts weights of one layer and direction of PyTorch (or Keras with reset_after, transposed) to Quern's layout.

    Args:
        cell: "rnn", "lstm" or "lbr_gru" (PyTorch's GRU).
        weight_ih, weight_hh: [G H, I] and [G H, P]. Weights of a GRU are copied, because its gates are reordered.
        bias_ih, bias_hh: [G H] or None.
        projection: weight_hr [P, H] or None.

    Returns:
        (w, u, bias) or, with a projection, (w, u, bias, projection).
    """
    gates = GATES[cell]

    def in_order(array):
        parts = array.reshape(gates, -1, *array.shape[1:])
        return parts[[1, 0, 2]] if cell == "lbr_gru" else parts

    w, u = (in_order(array)[None, None].transpose(0, 1, 4, 2, 3) for array in (weight_ih, weight_hh))
    bias = None
    if bias_ih is not None:
        bias = in_order(bias_ih + bias_hh)
        if cell == "lbr_gru":
            inputs, states = in_order(bias_ih), in_order(bias_hh)
            bias = numpy.concatenate([bias[:2], inputs[2:], states[2:]])
        bias = bias[None, None]
    return (w, u, bias) if projection is None else (w, u, bias, projection.T[None, None])


_Packed = collections.namedtuple("_Packed", "shape layout text buffer")
_Packed.__doc__ = "Weights in the layout of a kernel: (type, dims) of the array, Layout, its text in a line, and bytes."


class _Layer:
    """The base of LSTM, GRU and RNN: keeps copies of the weights in the fastest layout, packed once.

    Later changes of the arrays have no effect. A layer can be copied and pickled, and a pickle is portable.
    """

    def __init__(self, parameters, w, u, bias, peephole=None, projection=None):
        _checks.arrays(("w", "u"), (w, u))
        self._parameters = parameters
        self.bias, self._peephole = (None if array is None else reorder(array) for array in (bias, peephole))
        plain = {"weights_layer": w, "weights_iter": u, "weights_projection": projection}
        plain = {name: array for name, array in plain.items() if array is not None}
        tensors = {name: _quern.describe(array) for name, array in plain.items()}
        descriptor, self.packed = self._any(tensors), {}
        for name, tensor in tensors.items():
            layout = descriptor.layout(RNN_INDEX[name])
            buffer = numpy.empty(layout.bytes, numpy.uint8)
            if 0 not in tensor.dims:
                _quern.Kernel(_quern.Descriptor.pack(tensor, layout)).execute(
                    [(SRC, plain[name], False, False), (DST, buffer, True, True)])
            text = re.search(rf" {name}=(\S+)", descriptor.text)[1]
            self.packed[name] = _Packed((tensor.type, tensor.dims), layout, text, buffer)
        self._function = _quern.Function(len(INPUTS), 4, functools.partial(_plan_forward, layer=weakref.proxy(self)))

    def plain_weights(self, empty=numpy_empty):
        """Returns dense arrays by name, each created by `empty(type, dims)`."""
        made = {}
        for name, (shape, layout, _, buffer) in self.packed.items():
            made[name] = empty(*shape)
            if 0 not in shape[1]:
                _quern.Kernel(_quern.Descriptor.unpack(layout, Tensor(*shape))).execute(
                    [(SRC, buffer, False, True), (DST, made[name], True, False)])
        return made

    def __getstate__(self):
        return self._parameters, self.plain_weights(), self.bias, self._peephole

    def __setstate__(self, state):
        parameters, weights, bias, peephole = state
        _Layer.__init__(self, parameters, weights["weights_layer"], weights["weights_iter"], bias, peephole,
                        weights.get("weights_projection"))

    def _any(self, tensors):
        """Returns a problem with open steps and sequences that chooses the layouts of its weights."""
        shapes = {name: (tensor.type, tensor.dims) for name, tensor in tensors.items()}
        type, (_, _, inputs, _, _) = shapes["weights_layer"]
        shapes["src_layer"] = (type, (1, 1, inputs))
        (_, (_, _, width)), _, _ = result_shapes(self._parameters, shapes)
        texts = {name: f"{tensor.type}:{'x'.join(map(str, tensor.dims))}:any" for name, tensor in tensors.items()}
        texts |= {"src_layer": f"{type}:?x?x{inputs}:abc", "dst_layer": f"{type}:?x?x{width}:abc",
                  "bias": _text(None if self.bias is None else _quern.describe(self.bias)),
                  "weights_peephole": _text(None if self._peephole is None else _quern.describe(self._peephole))}
        if self._parameters[0].endswith("augru"):
            texts["attention"] = f"{type}:?x?x1:abc"
        return _quern.Descriptor.from_text(rnn_line("fwd_i", self._parameters, texts))

    def _run(self, x, h0, c0, attention, lengths, out):
        buffers = [self.packed[name].buffer if name in self.packed else None
                   for name in ("weights_layer", "weights_iter", "weights_projection")]
        return self._function(x, h0, c0, attention, lengths, *buffers[:2], self._peephole, buffers[2], self.bias, *out,
                              None, *self._parameters, False)


class LSTM(_Layer):
    """An LSTM for inference whose weights are packed once; see `lstm` for the arguments."""

    def __init__(self, w, u, bias=None, *, peephole=None, projection=None, direction="left2right", stacked=False):
        super().__init__(("lstm", direction, None, 0.0, _flags(stacked)), w, u, bias, peephole, projection)

    def __call__(self, x, h0=None, c0=None, *, lengths=None, out=(None, None, None)):
        """Returns (y, h, c) like `lstm`."""
        return self._run(x, h0, c0, None, lengths, _checks.results(out, 3))[:3]


class GRU(_Layer):
    """A GRU for inference whose weights are packed once; see `gru` for the arguments."""

    def __init__(self, w, u, bias=None, *, linear_before_reset=False, attention=False, direction="left2right",
                 stacked=False):
        cell = ("lbr_" if linear_before_reset else "") + ("augru" if attention else "gru")
        super().__init__((cell, direction, None, 0.0, _flags(stacked)), w, u, bias)

    def __call__(self, x, h0=None, *, attention=None, lengths=None, out=(None, None)):
        """Returns (y, h) like `gru`."""
        return self._run(x, h0, None, attention, lengths, (*_checks.results(out, 2), None))[:2]


class RNN(_Layer):
    """A plain recurrent network for inference whose weights are packed once; see `rnn` for the arguments."""

    def __init__(self, w, u, bias=None, *, activation="tanh", alpha=0.0, direction="left2right", stacked=False):
        super().__init__(("rnn", direction, activation, _checks.number("alpha", alpha), _flags(stacked)), w, u, bias)

    def __call__(self, x, h0=None, *, lengths=None, out=(None, None)):
        """Returns (y, h) like `rnn`."""
        return self._run(x, h0, None, None, lengths, (*_checks.results(out, 2), None))[:2]


__all__ = ["lstm", "gru", "rnn", "rnn_backward", "weights", "LSTM", "GRU", "RNN"]
