# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in PyTorch on the CPU: operators with gradients, which torch.compile keeps in its graphs, and layers.

    y = quern.torch.softmax(x, -1)
    lstm = quern.torch.LSTM(64, 128, bidirectional=True)       # in place of torch.nn.LSTM
    lstm.load_state_dict(trained.state_dict())
"""

import torch
from torch.nn.utils.rnn import PackedSequence

import quern
from quern import _checks
from quern._frameworks import torch_empty
from quern._torch_elements import eltwise_op, plain_eltwise, plain_softmax, softmax_op
from quern._torch_operators import are_plain, bare, use_threads
from quern._torch_rnn import call, canonical, falling, run_chunks, split

_is_traced = torch.compiler.is_dynamo_compiling

# The fast path returns NotImplemented for subclasses, modes and transformations, which PyTorch's dispatcher handles.


def _tensor(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is of type {type(x).__name__}; it must be a tensor")
    return x


def softmax(x, dim=-1):
    """Like `torch.softmax` for f64, f32, bf16 or f16 with any strides, with its gradient; s8 and u8 become f32.

    A second derivative raises.
    """
    if not _is_traced():
        try:
            y = plain_softmax(x, dim, False)
        except TypeError:
            _checks.index("dim", dim)
            raise
        if y is not NotImplemented:
            return y
    return softmax_op(_tensor(x), dim, False)


def log_softmax(x, dim=-1):
    """Like `torch.log_softmax`; see `softmax`."""
    if not _is_traced():
        try:
            y = plain_softmax(x, dim, True)
        except TypeError:
            _checks.index("dim", dim)
            raise
        if y is not NotImplemented:
            return y
    return softmax_op(_tensor(x), dim, True)


def eltwise(x, algorithm, alpha=0.0, beta=0.0):
    """Applies a function to each element, with its gradient; see `quern.eltwise` for `algorithm` and its parameters.

    A second derivative raises.
    """
    if not _is_traced():
        try:
            y = plain_eltwise(x, algorithm, alpha, beta)
        except TypeError:
            _checks.text("algorithm", algorithm)
            _checks.number("alpha", alpha)
            _checks.number("beta", beta)
            raise
        if y is not NotImplemented:
            return y
    return eltwise_op(_tensor(x), algorithm, float(alpha), float(beta))


# --- Recurrent networks ---


def _padded(packed):
    """Returns (data [T, N, I], lengths, indices of the packed rows among T N); rows after a sequence's end are
    arbitrary."""
    sizes, data = packed.batch_sizes, packed.data
    steps = torch.arange(int(sizes[0]))
    runs = steps < sizes[:, None]
    rows = ((sizes.cumsum(0) - sizes)[:, None] + steps).clamp_(max=data.shape[0] - 1)
    x = data.index_select(0, rows.flatten()).unflatten(0, rows.shape)
    return x, runs.sum(0, dtype=torch.int32), runs.flatten().nonzero().squeeze(1)


def _autocast_type():
    """Returns the type that torch.autocast uses for networks on the CPU; None if it is off."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None


def _cast(tensor, type):
    """Casts a tensor as torch.autocast does."""
    is_cast = tensor is not None and tensor.is_floating_point() and tensor.dtype != torch.float64
    return tensor.to(type) if is_cast else tensor


class _Frozen:
    """The weights of a module, packed once.

    Args:
        parameters: the tensors of the module.
        dtype: the type of the weights.
        layers: a `quern.LSTM`, `GRU` or `RNN` for each layer.
    """

    def __init__(self, parameters, dtype, layers):
        self.parameters, self.layers, self.dtype = parameters, layers, dtype
        self._chunks = [None] * len(layers)

    def chunks(self, layer, cell, activation):
        """Returns the directions of a layer, for sequences in descending order of length."""
        if self._chunks[layer] is None:
            weights, bias = self.layers[layer].plain_weights(torch_empty), self.layers[layer].bias
            self._chunks[layer] = split(cell, activation, [weights["weights_layer"], weights["weights_iter"], bias,
                                                           weights.get("weights_projection")])
        return self._chunks[layer]


class _Layers:
    """Adds forward() and freeze() to torch.nn.RNNBase for LSTM, GRU and RNN."""

    _cell = None
    _quern_frozen = None

    def freeze(self):
        """Packs the weights once, for calls that record no gradient; returns the module.

        Later updates of the weights have no effect until unfreeze(). Copies and pickles of the module are not frozen.
        """
        layers = []
        for layer in range(self.num_layers):
            parameters = self._parameters_of(layer)
            if not are_plain(*(weight for some in parameters for weight in some)):
                raise quern.Error("a parameter is not a plain tensor of the CPU; freeze() is not implemented for it", 3)
            arrays = canonical(self._cell, [list(map(bare, some)) for some in parameters])
            layers.append(self._whole(self._cell, self._activation() or None, arrays))
        self.__dict__["_quern_frozen"] = _Frozen(self._all_parameters(), arrays[0].dtype, layers)
        return self

    def unfreeze(self):
        """Reverts freeze(): each call reads the weights again; returns the module."""
        self.__dict__.pop("_quern_frozen", None)
        return self

    def _all_parameters(self):
        """Returns the parameters, including those of parametrizations."""
        return list(self.parameters() if self._modules else self._parameters.values())

    def _parameters_of(self, layer):
        """Returns a list [w, u, b_ih, b_hh, p] for each direction."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [[getattr(self, f"{name}_l{layer}{suffix}", None) for name in names]
                for suffix in (("", "_reverse") if self.bidirectional else ("",))]

    def _direction(self):
        return "bidirectional_concat" if self.bidirectional else "left2right"

    def _activation(self):
        return self.nonlinearity if self._cell == "rnn" else ""

    def _whole(self, cell, activation, arrays):
        w, u, bias, projection = arrays
        made = {"lstm": quern.LSTM, "lbr_gru": quern.GRU, "rnn": quern.RNN}[cell]
        rest = {"lstm": {"projection": projection}, "lbr_gru": {"linear_before_reset": True},
                "rnn": {"activation": activation}}[cell]
        return made(w, u, bias, direction=self._direction(), **rest)

    def _num_directions(self):
        return 2 if self.bidirectional else 1

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_quern_frozen", None)
        return state

    def __prepare_scriptable__(self):
        raise TypeError(f"quern.torch.{type(self).__name__} cannot be compiled by torch.jit.script; use torch.compile, "
                        "torch.export or torch.jit.trace")

    def _run_layer(self, layer, x, h, c, lengths):
        """Returns (y, h, c or None)."""
        parameters = [parameter for some in self._parameters_of(layer) for parameter in some]
        result = x.dtype if h is None else h.dtype
        narrow = _autocast_type()
        if narrow:
            x, h, *parameters = (_cast(tensor, narrow) for tensor in (x, h, *parameters))
        parameters += [None] * (10 - len(parameters))
        training = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, h, c, *parameters))
        y, h, c, _ = call(x, h, c, lengths, *parameters, self._cell, self._activation(), training)
        if narrow and self._cell == "lbr_gru":  # autocast keeps the type of a GRU's states
            y, h = y.to(result), h.to(result)
        return y, h, c if self._cell == "lstm" else None

    def _run_frozen(self, layer, x, h, c, lengths, steps):
        """Like _run_layer(), with packed weights; `steps` are the lengths as a list if they are in descending order."""
        use_threads()
        frozen, is_lstm, narrow = self._quern_frozen, self._cell == "lstm", _autocast_type()
        result = narrow if narrow and self._cell != "lbr_gru" else x.dtype if h is None else h.dtype
        if narrow:
            x, h = (tensor if tensor is None else tensor.to(frozen.dtype) for tensor in (x, h))
        if steps:
            y, h, c = run_chunks(frozen.chunks(layer, self._cell, self._activation() or None), x, h, c, lengths, steps)
        else:
            states = [None if s is None else s[None] for s in ((h, c) if is_lstm else (h,))]
            y, *states = frozen.layers[layer](x, *states, lengths=lengths)
            h, c = states[0][0], states[1][0] if is_lstm else None
        return (y.to(result), h.to(result), c) if narrow else (y, h, c)

    def _is_frozen(self, x, h, c):
        """Returns whether a call uses the packed weights."""
        if torch.compiler.is_compiling() or self._quern_frozen is None:
            return False
        before, now = self._quern_frozen.parameters, self._all_parameters()
        if len(before) != len(now) or any(first is not second for first, second in zip(before, now)):
            raise quern.Error("a parameter of a frozen layer is another tensor now; call unfreeze() or freeze()")
        if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, h, c, *self.parameters())):
            raise quern.Error("a frozen layer records no gradients; call it under torch.no_grad(), or unfreeze() it")
        return are_plain(x, h, c)

    def _run_layers(self, x, h, c, lengths):
        """Computes y, h and c of all layers, from x [T, N, I]."""
        directions = 2 if self.bidirectional else 1
        last_h, last_c = [], []
        is_frozen = self._is_frozen(x, h, c)
        steps = falling(lengths) if is_frozen else None
        for layer in range(self.num_layers):
            part = slice(layer * directions, (layer + 1) * directions)
            given = x, None if h is None else h[part], None if c is None else c[part], lengths
            x, new_h, new_c = self._run_frozen(layer, *given, steps) if is_frozen else self._run_layer(layer, *given)
            last_h.append(new_h)
            last_c.append(new_c)
            if self.dropout and self.training and layer + 1 < self.num_layers:
                x = torch.nn.functional.dropout(x, self.dropout, True)
        return x, *(None if states[0] is None else states[0] if len(states) == 1 else torch.cat(states)
                    for states in (last_h, last_c))

    def _check(self, x, h, c):
        """Checks shapes and fails with the errors of PyTorch's modules; x is [T, N, I]."""
        if x.shape[2] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{x.shape[2]}")
        if x.shape[0] == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        count = self.num_layers * (2 if self.bidirectional else 1)
        for at, (state, size) in enumerate(((h, self.proj_size or self.hidden_size), (c, self.hidden_size))):
            if state is not None:
                self.check_hidden_size(state, (count, x.shape[1], size), f"Expected hidden[{at}] size {{}}, got {{}}")

    def _states_of(self, hx):
        """Returns (h, c), each a tensor or None."""
        is_several, is_lstm = isinstance(hx, (tuple, list)), self._cell == "lstm"
        if hx is None:
            return None, None
        if is_several != is_lstm or (is_lstm and len(hx) != 2):
            raise TypeError(f"hx is of type {type(hx).__name__}; it must be "
                            + ("a pair of tensors (h, c)" if is_lstm else "a tensor"))
        return hx if is_lstm else (hx, None)

    def forward(self, input, hx=None):  # pylint: disable=redefined-builtin
        """Accepts a tensor, batched or not, or a PackedSequence, and returns results like PyTorch's modules."""
        h, c = self._states_of(hx)
        packed = isinstance(input, PackedSequence)
        lengths, is_batched = None, True
        if packed:
            if torch.jit.is_tracing():
                raise TypeError("a PackedSequence cannot be recorded by torch.jit.trace; use torch.export")
            x, lengths, places = _padded(input)
            if input.sorted_indices is not None:
                h, c = (None if s is None else s.index_select(1, input.sorted_indices) for s in (h, c))
        else:
            if not isinstance(input, torch.Tensor):
                raise TypeError(f"input is of type {type(input).__name__}; it must be a tensor or a PackedSequence")
            if input.dim() not in (2, 3):
                raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
            is_batched = input.dim() == 3
            x = input if is_batched else input[:, None]
            if not is_batched:
                h, c = (None if s is None else s[:, None] for s in (h, c))
            elif self.batch_first:
                x = x.transpose(0, 1)
        self._check(x, h, c)
        y, h, c = self._run_layers(x, h, None if c is None else c.float(), lengths)
        c = None if c is None else c.to(y.dtype)
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


# The base class is used because torch.compile does not build graphs for PyTorch's own LSTM, GRU and RNN.


class LSTM(_Layers, torch.nn.RNNBase):
    """Replaces `torch.nn.LSTM` on the CPU, with the same arguments, parameters and `state_dict`.

    Each call reads the parameters; after freeze(), calls without gradients use weights that were packed once. A second
    derivative raises.
    """

    _cell = "lstm"

    def __init__(self, *arguments, **options):
        super().__init__("LSTM", *arguments, **options)


class GRU(_Layers, torch.nn.RNNBase):
    """Replaces `torch.nn.GRU`; see `LSTM`."""

    _cell = "lbr_gru"

    def __init__(self, *arguments, **options):
        super().__init__("GRU", *arguments, **options)


class RNN(_Layers, torch.nn.RNNBase):
    """Replaces `torch.nn.RNN`; see `LSTM`."""

    _cell = "rnn"

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *arguments, **options):
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, *arguments, **options)
        self.nonlinearity = nonlinearity


__all__ = ["softmax", "log_softmax", "eltwise", "LSTM", "GRU", "RNN"]
