# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels within PyTorch on the CPU: operators with gradients, which torch.compile keeps in its graphs, and layers.

    y = quern.torch.softmax(x, -1)
    lstm = quern.torch.LSTM(64, 128, bidirectional=True)       # in place of torch.nn.LSTM
    lstm.load_state_dict(trained.state_dict())
"""

import torch
from torch.nn.utils.rnn import PackedSequence

import quern
from quern._torch_elements import eltwise_op, plain_eltwise, plain_softmax, softmax_op
from quern._torch_operators import bare, use_threads
from quern._torch_rnn import call, canonical, falling, run_chunks, split

_is_traced = torch.compiler.is_dynamo_compiling

# What is NotImplemented by the short way is for PyTorch's own of calling operators: subclasses, modes, transformations.


def softmax(x, dim=-1):
    """`torch.softmax`: of f64, f32, bf16 or f16, with any strides, with a gradient."""
    if not _is_traced():
        y = plain_softmax(x, dim, False)
        if y is not NotImplemented:
            return y
    return softmax_op(x, dim, False)


def log_softmax(x, dim=-1):
    """`torch.log_softmax`, as `softmax`."""
    if not _is_traced():
        y = plain_softmax(x, dim, True)
        if y is not NotImplemented:
            return y
    return softmax_op(x, dim, True)


def eltwise(x, algorithm, alpha=0.0, beta=0.0):
    """A function of each element, with a gradient: `algorithm` and its parameters as of `quern.eltwise`."""
    if not _is_traced():
        y = plain_eltwise(x, algorithm, alpha, beta)
        if y is not NotImplemented:
            return y
    return eltwise_op(x, algorithm, float(alpha), float(beta))


# --- Recurrent networks ---


def _padded(packed):
    """(data [T, N, I], lengths, the places of the packed rows among T N); behind the end of a sequence is anything."""
    sizes, data = packed.batch_sizes, packed.data
    steps = torch.arange(int(sizes[0]))
    runs = steps < sizes[:, None]
    rows = ((sizes.cumsum(0) - sizes)[:, None] + steps).clamp_(max=data.shape[0] - 1)
    x = data.index_select(0, rows.flatten()).unflatten(0, rows.shape)
    return x, runs.sum(0, dtype=torch.int32), runs.flatten().nonzero().squeeze(1)


class _Layers:
    """What LSTM, GRU and RNN add to PyTorch's modules: forward. Parameters and their names are PyTorch's."""

    _cell = None

    def _parameters_of(self, layer):
        """Of each direction [w, u, b_ih, b_hh, p]."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [[getattr(self, f"{name}_l{layer}{suffix}", None) for name in names]
                for suffix in (("", "_reverse") if self.bidirectional else ("",))]

    def _direction(self):
        return "bidirectional_concat" if self.bidirectional else "left2right"

    def _activation(self):
        return self.nonlinearity if self._cell == "rnn" else ""

    def _packed(self, layer, in_chunks=False):
        """A layer with its weights packed, until one of them changes: for any lengths, or for all steps at once."""
        parameters = self._parameters_of(layer)
        weights = [weight for some in parameters for weight in some if weight is not None]
        state = [(weight.data_ptr(), weight._version, weight.dtype) for weight in weights]
        cache, key = self.__dict__.setdefault("_quern_packed", {}), (layer, in_chunks)
        if key not in cache or cache[key][0] != state:
            arrays = canonical(self._cell, [list(map(bare, some)) for some in parameters])
            cache[key] = state, (split if in_chunks else self._whole)(self._cell, self._activation() or None, arrays)
        return cache[key][1]

    def _whole(self, cell, activation, arrays):
        w, u, bias, projection = arrays
        made = {"lstm": quern.LSTM, "lbr_gru": quern.GRU, "rnn": quern.RNN}[cell]
        rest = {"lstm": {"projection": projection}, "lbr_gru": {"linear_before_reset": True},
                "rnn": {"activation": activation}}[cell]
        return made(w, u, bias, direction=self._direction(), **rest)

    def _num_directions(self):
        return 2 if self.bidirectional else 1

    def __getstate__(self):
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        return {name: value for name, value in state.items() if name != "_quern_packed"}

    def _run_layer(self, layer, x, h, c, lengths, steps):
        """(y, h, c or None); `steps` are the lengths as a list, where they fall."""
        if not torch.compiler.is_compiling() and not torch.is_grad_enabled():
            return self._infer(layer, bare(x), bare(h), bare(c), lengths, steps)
        parameters = [parameter for some in self._parameters_of(layer) for parameter in some]
        parameters += [None] * (10 - len(parameters))
        training = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, h, c, *parameters))
        y, h, c, _ = call(x, h, c, lengths, *parameters, self._cell, self._activation(), training)
        return y, h, c if self._cell == "lstm" else None

    def _infer(self, layer, x, h, c, lengths, steps):
        use_threads()
        made = self._packed(layer, bool(steps))
        if steps:
            return run_chunks(made, x, h, c, lengths, steps)
        states = [None if s is None else s[None] for s in ((h, c) if self._cell == "lstm" else (h,))]
        y, *states = made(x, *states, lengths=lengths)
        return (y, states[0][0], states[1][0] if self._cell == "lstm" else None)

    def _run_layers(self, x, h, c, lengths):
        """Of [T, N, I]: y, h and c of all layers."""
        directions = self._num_directions()
        last_h, last_c = [], []
        steps = None if torch.compiler.is_compiling() else falling(lengths)
        for layer in range(self.num_layers):
            part = slice(layer * directions, (layer + 1) * directions)
            x, own_h, own_c = self._run_layer(layer, x, None if h is None else h[part],
                                              None if c is None else c[part], lengths, steps)
            last_h.append(own_h)
            last_c.append(own_c)
            if self.dropout and self.training and layer + 1 < self.num_layers:
                x = torch.nn.functional.dropout(x, self.dropout, True)
        return x, *(None if states[0] is None else states[0] if len(states) == 1 else torch.cat(states)
                    for states in (last_h, last_c))

    def forward(self, input, hx=None):  # pylint: disable=redefined-builtin
        """As PyTorch's: a tensor, batched or not, or a PackedSequence; states of all layers and directions."""
        h, c = hx if isinstance(hx, (tuple, list)) else (hx, None)
        packed = isinstance(input, PackedSequence)
        lengths, is_batched = None, True
        if packed:
            x, lengths, places = _padded(input)
            if input.sorted_indices is not None:
                h, c = (None if s is None else s.index_select(1, input.sorted_indices) for s in (h, c))
        else:
            is_batched = input.dim() == 3
            x = input if is_batched else input[:, None]
            if not is_batched:
                h, c = (None if s is None else s[:, None] for s in (h, c))
            elif self.batch_first:
                x = x.transpose(0, 1)
        y, h, c = self._run_layers(x, h, None if c is None else c.float(), lengths)
        c = None if c is None else c.to(x.dtype)
        if packed:
            y = PackedSequence(y.flatten(0, 1).index_select(0, places), input.batch_sizes, input.sorted_indices,
                               input.unsorted_indices)
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
