# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels within PyTorch on the CPU: operators with gradients, which torch.compile keeps in its graphs, and layers.

    y = quern.torch.softmax(x, -1)
    lstm = quern.torch.LSTM(64, 128, bidirectional=True)       # in place of torch.nn.LSTM
    lstm.load_state_dict(trained.state_dict())
"""

import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import quern
from quern._functions import _eltwise, _eltwise_backward, _softmax, _softmax_backward
from quern._rnn import (BACKWARD_INPUTS, GRADIENTS, INPUTS, NO_OUTS, OVERWRITE, _backward, _forward, result_shapes)

_threads = 0


def _use_threads():
    """As many threads as PyTorch uses."""
    global _threads  # pylint: disable=global-statement
    count = torch.get_num_threads()
    if count != _threads:
        quern.set_num_threads(count)
        _threads = count


_library = torch.library.Library("quern", "DEF")


def _operator(schema, implementation, fake):
    """quern::NAME of the schema, on the CPU and as shapes."""
    name = schema.partition("(")[0]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(name, implementation, "CPU")
    torch.library.register_fake("quern::" + name, fake, lib=_library)
    return getattr(torch.ops.quern, name).default


def _bare(tensor):
    return tensor.detach() if tensor is not None and tensor.requires_grad else tensor


def _like(x, *_):
    return x.new_empty(x.shape)


# --- Softmax and functions of elements ---


def _run_softmax(x, dim, log):
    _use_threads()
    return _softmax(_bare(x), None, dim, "log" if log else "accurate", None)


def _run_softmax_backward(y, dy, dim, log):
    _use_threads()
    return _softmax_backward(y.detach(), dy.detach(), None, dim, "log" if log else "accurate", None)


_softmax_op = _operator("softmax(Tensor x, int dim, bool log) -> Tensor", _run_softmax, _like)
_softmax_backward_op = _operator("softmax_backward(Tensor y, Tensor dy, int dim, bool log) -> Tensor",
                                 _run_softmax_backward, _like)


def _keep_softmax(ctx, inputs, output):
    ctx.dim, ctx.log = inputs[1:]
    ctx.save_for_backward(output)


torch.library.register_autograd(
    "quern::softmax", lambda ctx, dy: (_softmax_backward_op(*ctx.saved_tensors, dy, ctx.dim, ctx.log), None, None),
    setup_context=_keep_softmax, lib=_library)


def _is_plain(x):
    """Whether a call may pass by PyTorch's dispatcher: nothing records, traces or transforms it."""
    return (type(x) is torch.Tensor and not (x.requires_grad and torch.is_grad_enabled()) and x.is_cpu
            and not torch.compiler.is_compiling() and not torch._C._are_functorch_transforms_active()
            and not torch._C._len_torch_dispatch_stack() and not torch._C._len_torch_function_stack()
            and not torch._C._get_tracing_state())


def softmax(x, dim=-1):
    """`torch.softmax`: of f64, f32, bf16 or f16, with any strides, with a gradient."""
    return _run_softmax(x, dim, False) if _is_plain(x) else _softmax_op(x, dim, False)


def log_softmax(x, dim=-1):
    """`torch.log_softmax`, as `softmax`."""
    return _run_softmax(x, dim, True) if _is_plain(x) else _softmax_op(x, dim, True)


def _run_eltwise(x, algorithm, alpha, beta):
    _use_threads()
    return _eltwise(_bare(x), None, algorithm, alpha, beta, None)


def _run_eltwise_backward(x, dy, algorithm, alpha, beta):
    _use_threads()
    return _eltwise_backward(x.detach(), dy.detach(), None, algorithm, alpha, beta, None)


_eltwise_op = _operator("eltwise(Tensor x, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise, _like)
_eltwise_backward_op = _operator(
    "eltwise_backward(Tensor x, Tensor dy, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise_backward,
    _like)


def _keep_eltwise(ctx, inputs, output):
    ctx.parameters = inputs[1:]
    ctx.save_for_backward(inputs[0])


torch.library.register_autograd(
    "quern::eltwise", lambda ctx, dy: (_eltwise_backward_op(*ctx.saved_tensors, dy, *ctx.parameters), None, None, None),
    setup_context=_keep_eltwise, lib=_library)


def eltwise(x, algorithm, alpha=0.0, beta=0.0):
    """A function of each element, with a gradient: `algorithm` and its parameters as of `quern.eltwise`."""
    run = _run_eltwise if _is_plain(x) else _eltwise_op
    return run(x, algorithm, float(alpha), float(beta))


# --- Recurrent networks ---
# An operator's tensors have fixed places, those that are absent are None; results that are absent have no elements.

_IN = ", ".join(f"Tensor? {name}" if name not in ("src_layer", "weights_layer", "weights_iter") else f"Tensor {name}"
                for name in INPUTS)
_PARAMETERS = "str cell, str direction, str activation"


def _workspace_bytes(cell, direction, activation, tensors):
    """As docs/primitives/rnn.md has it: sections that begin at multiples of 64."""
    steps, batch, _ = tensors["src_layer"].shape
    layers, directions, _, gates, hidden = tensors["weights_layer"].shape
    count = layers * directions * steps * batch
    sizes = [count * gates * hidden * 4]
    if cell == "lstm":
        sizes.append(count * hidden * 4)
    if cell.startswith("lbr"):
        sizes.append(count * hidden * 4)
    if tensors["weights_projection"] is not None:
        sizes.append(count * tensors["weights_projection"].shape[3] * tensors["src_layer"].element_size())
    total = 64
    for size in sizes:
        total += (size + 63) // 64 * 64
    return total


def _run_rnn(*arguments):
    *tensors, cell, direction, activation, training = arguments
    _use_threads()
    results = _forward(*map(_bare, tensors), None, None, None, None, cell, direction, activation or None, 0.0, 0,
                       training)
    empty = tensors[0].new_empty(0)
    return [empty if result is None else result for result in results]


def _fake_rnn(*arguments):
    *tensors, cell, direction, activation, training = arguments
    named = dict(zip(INPUTS, tensors))
    shapes = {name: tensor is not None and ("", tuple(tensor.shape)) for name, tensor in named.items()}
    y, h, c = result_shapes((cell, direction), shapes)
    x, initial = tensors[0], named["src_iter_c"]
    cells = x.new_empty(0)
    if c:
        cells = x.new_empty(c[1], dtype=torch.float32 if initial is None else initial.dtype)
    bytes_ = x.new_empty(_workspace_bytes(cell, direction, activation, named), dtype=torch.uint8) if training else \
        x.new_empty(0)
    return [x.new_empty(y[1]), x.new_empty(h[1]), cells, bytes_]


_rnn_op = _operator(f"rnn({_IN}, {_PARAMETERS}, bool training) -> Tensor[]", _run_rnn, _fake_rnn)


def _run_rnn_backward(*arguments):
    *tensors, cell, direction, activation, wanted = arguments
    _use_threads()
    names = tuple(name for name, is_wanted in zip(GRADIENTS, wanted) if is_wanted)
    results = _backward(*map(_bare, tensors), *NO_OUTS, cell, direction, activation or None, 0.0, OVERWRITE, names)
    empty = tensors[0].new_empty(0)
    return [empty if result is None else result for result in results]


def _fake_rnn_backward(*arguments):
    *tensors, _, _, _, wanted = arguments
    named, x = dict(zip(BACKWARD_INPUTS, tensors)), tensors[0]
    return [x.new_empty(named[name.removeprefix("diff_")].shape, dtype=torch.float32) if is_wanted else x.new_empty(0)
            for name, is_wanted in zip(GRADIENTS, wanted)]


_rnn_backward_op = _operator(
    f"rnn_backward({_IN}, {', '.join('Tensor? ' + name for name in BACKWARD_INPUTS[len(INPUTS):])}, {_PARAMETERS}, "
    "bool[] wanted) -> Tensor[]", _run_rnn_backward, _fake_rnn_backward)


def _keep_rnn(ctx, inputs, output):
    tensors, ctx.parameters, ctx.types = inputs[:len(INPUTS)], inputs[len(INPUTS):-1], None
    ctx.there = [tensor is not None for tensor in tensors]
    ctx.save_for_backward(*(tensor for tensor in tensors if tensor is not None), *output)


def _rnn_gradients(ctx, grads):
    saved = list(ctx.saved_tensors)
    tensors = [saved.pop(0) if is_there else None for is_there in ctx.there]
    y, h, c, workspace = saved
    needed = dict(zip(INPUTS, ctx.needs_input_grad))
    wanted = [needed[name.removeprefix("diff_")] for name in GRADIENTS]
    is_lstm = ctx.parameters[0] == "lstm"
    dy, dh, dc, _ = (None if grad is None else grad.float() for grad in grads)
    dy = torch.zeros(y.shape) if dy is None else dy
    made = dict(zip(GRADIENTS, _rnn_backward_op(*tensors, y, h, c if is_lstm else None, workspace, dy, dh,
                                                dc if is_lstm else None, *ctx.parameters, wanted)))
    results = []
    for name, tensor in zip(INPUTS, tensors):
        results.append(made["diff_" + name].to(tensor.dtype) if needed[name] and name != "seq_lengths" else None)
    return (*results, None, None, None, None)


torch.library.register_autograd("quern::rnn", _rnn_gradients, setup_context=_keep_rnn, lib=_library)


_LEAST_GROUP = 4


def _groups(lengths):
    """Where groups of sequences end, for lengths that fall: a new one where its steps are an eighth fewer."""
    ends, first = [], lengths[0]
    for at in range(_LEAST_GROUP, len(lengths) - _LEAST_GROUP + 1):
        if at - (ends[-1] if ends else 0) >= _LEAST_GROUP and lengths[at] * 8 <= first * 7:
            ends.append(at)
            first = lengths[at]
    return ends + [len(lengths)]


class _Layers:
    """What LSTM, GRU and RNN add to PyTorch's modules: forward. Parameters and their names are PyTorch's."""

    _cell = None

    def _weights(self, layer):
        """(w, u, bias, projection) of a layer as the operator takes them; views where the order of gates allows it."""
        gates = {"lstm": 4, "lbr_gru": 3, "rnn": 1}[self._cell]
        parts = []
        for suffix in ("", "_reverse") if self.bidirectional else ("",):
            def parameter(name, suffix=suffix):
                return getattr(self, f"{name}_l{layer}{suffix}")

            def in_order(array):
                array = array.unflatten(0, (gates, -1))
                return array[[1, 0, 2]] if self._cell == "lbr_gru" else array
            bias = None
            if self.bias and self._cell == "lbr_gru":
                inputs, states = in_order(parameter("bias_ih")), in_order(parameter("bias_hh"))
                bias = torch.cat([inputs[:2] + states[:2], inputs[2:], states[2:]])
            elif self.bias:
                bias = in_order(parameter("bias_ih") + parameter("bias_hh"))
            projection = parameter("weight_hr").T if self.proj_size else None
            parts.append((in_order(parameter("weight_ih")), in_order(parameter("weight_hh")), bias, projection))
        stacked = [None if array[0] is None else (array[0][None] if len(array) == 1 else torch.stack(array))[None]
                   for array in zip(*parts)]
        w, u, bias, projection = stacked
        return w.permute(0, 1, 4, 2, 3), u.permute(0, 1, 4, 2, 3), bias, projection

    def _direction(self):
        return "bidirectional_concat" if self.bidirectional else "left2right"

    def _activation(self):
        return self.nonlinearity if self._cell == "rnn" else ""

    def _packed(self, layer):
        """A layer with its weights packed, until one of them changes."""
        names = self._all_weights[layer * self._num_directions():(layer + 1) * self._num_directions()]
        weights = [getattr(self, name) for some in names for name in some]
        state = [(weight.data_ptr(), weight._version, weight.dtype) for weight in weights]
        cache = self.__dict__.setdefault("_quern_packed", {})
        if layer not in cache or cache[layer][0] != state:
            with torch.no_grad():
                w, u, bias, projection = map(_bare, self._weights(layer))
            made = {"lstm": quern.LSTM, "lbr_gru": quern.GRU, "rnn": quern.RNN}[self._cell]
            rest = {"lstm": {"projection": projection}, "lbr_gru": {"linear_before_reset": True},
                    "rnn": {"activation": self._activation()}}[self._cell]
            cache[layer] = state, made(w, u, bias, direction=self._direction(), **rest)
        return cache[layer][1]

    def _num_directions(self):
        return 2 if self.bidirectional else 1

    def __getstate__(self):
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        return {name: value for name, value in state.items() if name != "_quern_packed"}

    def _run_layer(self, layer, x, h, c, lengths):
        """(y, h, c or None)."""
        if not torch.compiler.is_compiling() and not torch.is_grad_enabled():
            _use_threads()
            made = self._packed(layer)
            if self._cell == "lstm":
                return made(_bare(x), _bare(h), _bare(c), lengths=lengths)
            return (*made(_bare(x), _bare(h), lengths=lengths), None)
        w, u, bias, projection = self._weights(layer)
        training = torch.is_grad_enabled() and any(t is not None and t.requires_grad
                                                   for t in (x, h, c, w, u, bias, projection))
        y, h, c, _ = _rnn_op(x, h, c, None, lengths, w, u, None, projection, bias, self._cell, self._direction(),
                             self._activation(), training)
        return y, h, c if self._cell == "lstm" else None

    def _run_groups(self, x, h, c, lengths):
        """Sequences in the order of their lengths, the longest first: as many at a time as are about as long.

        What a group runs behind the end of its shorter sequences is for nothing, and small groups share weights badly.
        """
        count = x.shape[1]
        if torch.compiler.is_compiling() or count < 2 * _LEAST_GROUP:
            return self._run_layers(x, h, c, lengths)
        ends = _groups(lengths.tolist())
        if len(ends) == 1:
            return self._run_layers(x, h, c, lengths)
        parts, begin = [], 0
        for end in ends:
            own = [None if s is None else s[:, begin:end] for s in (h, c)]
            steps = int(lengths[begin])
            y, last_h, last_c = self._run_layers(x[:steps, begin:end], *own, lengths[begin:end])
            parts.append((torch.nn.functional.pad(y, (0, 0, 0, 0, 0, x.shape[0] - steps)), last_h, last_c))
            begin = end
        y, last_h, last_c = zip(*parts)
        return torch.cat(y, 1), torch.cat(last_h, 1), None if last_c[0] is None else torch.cat(last_c, 1)

    def _run_layers(self, x, h, c, lengths):
        """Of [T, N, I]: y, h and c of all layers."""
        directions = self._num_directions()
        last_h, last_c = [], []
        for layer in range(self.num_layers):
            part = slice(layer * directions, (layer + 1) * directions)
            x, own_h, own_c = self._run_layer(layer, x, None if h is None else h[part][None],
                                              None if c is None else c[part][None], lengths)
            last_h.append(own_h[0])
            last_c.append(own_c[0] if own_c is not None else None)
            if self.dropout and self.training and layer + 1 < self.num_layers:
                x = torch.nn.functional.dropout(x, self.dropout, True)
        return x, torch.cat(last_h), torch.cat(last_c) if last_c[0] is not None else None

    def forward(self, input, hx=None):  # pylint: disable=redefined-builtin
        """As PyTorch's: a tensor, batched or not, or a PackedSequence; states of all layers and directions."""
        h, c = hx if isinstance(hx, (tuple, list)) else (hx, None)
        packed = isinstance(input, PackedSequence)
        lengths, is_batched = None, True
        if packed:
            padded, lengths = pad_packed_sequence(PackedSequence(input.data, input.batch_sizes))
            x = padded
            lengths = lengths.to(torch.int32)
            if input.sorted_indices is not None:
                h, c = (None if s is None else s.index_select(1, input.sorted_indices) for s in (h, c))
        else:
            is_batched = input.dim() == 3
            x = input if is_batched else input[:, None]
            if not is_batched:
                h, c = (None if s is None else s[:, None] for s in (h, c))
            elif self.batch_first:
                x = x.transpose(0, 1)
        run = self._run_groups if packed else self._run_layers
        y, h, c = run(x, h, None if c is None else c.float(), lengths)
        c = None if c is None else c.to(x.dtype)
        if packed:
            data = pack_padded_sequence(y, lengths.to(torch.int64)).data
            y = PackedSequence(data, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            if input.unsorted_indices is not None:
                h, c = (None if s is None else s.index_select(1, input.unsorted_indices) for s in (h, c))
        elif not is_batched:
            y, h, c = (None if s is None else s.squeeze(1) for s in (y, h, c))
        elif self.batch_first:
            y = y.transpose(0, 1)
        return y, (h, c) if self._cell == "lstm" else h


# Not PyTorch's own classes, of which torch.compile makes no graph, but their base.


class LSTM(_Layers, torch.nn.RNNBase):
    """`torch.nn.LSTM` by Quern: the same arguments, parameters and `state_dict`, on the CPU.

    Weights of inference (under torch.no_grad) are packed once, and again when they change.
    """

    _cell = "lstm"

    def __init__(self, *arguments, **options):
        super().__init__("LSTM", *arguments, **options)


class GRU(_Layers, torch.nn.RNNBase):
    """`torch.nn.GRU` by Quern, as `LSTM`."""

    _cell = "lbr_gru"

    def __init__(self, *arguments, **options):
        super().__init__("GRU", *arguments, **options)


class RNN(_Layers, torch.nn.RNNBase):
    """`torch.nn.RNN` by Quern, as `LSTM`."""

    _cell = "rnn"

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *arguments, **options):
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, *arguments, **options)
        self.nonlinearity = nonlinearity


__all__ = ["softmax", "log_softmax", "eltwise", "LSTM", "GRU", "RNN"]
