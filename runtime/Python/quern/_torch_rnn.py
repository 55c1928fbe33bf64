# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch operators for a layer of a recurrent network, with the parameters of PyTorch's own modules.

The operators convert the parameters to Quern's order themselves, so that autograd records nothing for it, and the
gradients of an LSTM's weights are written in PyTorch's layout directly.
"""

import torch

from quern._rnn import GATES, NO_OUTS, OVERWRITE, _backward, _forward
from quern._torch_operators import (are_plain, bare, define, is_transformed, library,
                                    refuse_derivative, refuse_tangents, transformable, use_threads)
from quern._torch_sequences import MOST_CHUNKS, Direction, chunks_of, clear_outside, workspace_bytes

_OF_DIRECTION = ("w", "u", "b_ih", "b_hh", "p")
PLACES = ("x", "h", "c", "lengths", *_OF_DIRECTION, *(name + "_reverse" for name in _OF_DIRECTION))
_ALWAYS = ("x", "w", "u")
_TENSORS = ", ".join(("Tensor " if name in _ALWAYS else "Tensor? ") + name for name in PLACES)


def _swapped(array):
    """Copies [3 H, …] with the first two gates exchanged: PyTorch has r, z, n and Quern u, r, o."""
    size = array.shape[0] // 3
    return torch.cat((array[size:2 * size], array[:size], array[2 * size:]))


def _stacked(parts):
    """Returns the arrays [1, 1, …] of all directions as one array [1, D, …]: a view if there is one direction."""
    return parts[0] if len(parts) == 1 or parts[0] is None else torch.cat(parts, 1)


def canonical(cell, parameters):
    """Returns (w, u, bias, projection) for quern.lstm etc. from lists (w, u, b_ih, b_hh, p) for each direction.

    Weights and projection are views if the order of gates allows it and there is one direction.
    """
    gates = GATES[cell]
    is_gru = cell == "lbr_gru"

    def by_gate(array):
        """Returns weights [G H, I] as [1, 1, I, G, H]: one call in place of several views."""
        array = _swapped(array) if is_gru else array
        (rows, inputs), (row, column) = array.shape, array.stride()
        size = rows // gates
        return array.as_strided((1, 1, inputs, gates, size), (0, 0, column, size * row, row), array.storage_offset())
    made = []
    for w, u, b_ih, b_hh, p in parameters:
        bias = None
        if b_ih is not None and is_gru:
            inputs, states = (_swapped(b).view(gates, -1) for b in (b_ih, b_hh))
            bias = torch.cat([inputs[:2] + states[:2], inputs[2:], states[2:]])[None, None]
        elif b_ih is not None:
            bias = (b_ih + b_hh).view(1, 1, gates, -1)
        made.append((by_gate(w), by_gate(u), bias, None if p is None else p.T[None, None]))
    return list(map(_stacked, zip(*made)))


def directions_of(parameters):
    """Returns the list of tensors for each direction."""
    first, second = parameters[:len(_OF_DIRECTION)], parameters[len(_OF_DIRECTION):]
    return [first] if second[0] is None else [first, second]


def _weights_of(arrays, at):
    """Returns (w, u, bias, projection) of one direction."""
    return [None if array is None else array[:, at:at + 1] for array in arrays]


def split(cell, activation, arrays):
    """Returns a Direction for each direction of (w, u, bias, projection)."""
    names = ("left2right", "right2left")[:arrays[0].shape[1]]
    return [Direction((cell, name, activation), *_weights_of(arrays, at)) for at, name in enumerate(names)]


def falling(lengths):
    """Returns the lengths as a list if they are in descending order and differ, so that chunks of steps are useful."""
    if lengths is None:
        return None
    steps = lengths.tolist()
    return steps if all(a >= b for a, b in zip(steps, steps[1:])) and steps and steps[-1] != steps[0] else None


def _states(x, h, c, count, is_lstm, size, hidden):
    """Returns initial states [D, N, P] and [D, N, H] to be overwritten: copies of the arguments, or zeros."""
    batch = x.shape[1]
    h = x.new_zeros(count, batch, size) if h is None else h.clone(memory_format=torch.contiguous_format)
    if not is_lstm:
        return h, None
    return h, (x.new_zeros(count, batch, hidden, dtype=torch.float32) if c is None else
               c.to(torch.float32, copy=True, memory_format=torch.contiguous_format))


def run_chunks(directions, x, h, c, lengths, steps, workspace=None):
    """Computes (y, h, c) for sequences in descending order of length."""
    if x.stride(2) != 1:
        x = x.contiguous()
    size, hidden = directions[0].states, directions[0].hidden
    y = x.new_empty(x.shape[0], x.shape[1], size * len(directions))
    h, c = _states(x, h, c, len(directions), directions[0].is_lstm, size, hidden)
    chunks = chunks_of(steps, x.shape[0], directions[0].worth(workspace is not None))
    clear_outside(chunks, y)
    for at, direction in enumerate(directions):
        part = None if workspace is None else workspace.chunk(len(directions))[at]
        direction.forward(chunks, x, h[at], None if c is None else c[at], lengths,
                          y[:, :, at * size:(at + 1) * size], part)
    return y, h, c


# --- Forward ---


def _room(cell, x, parameters):
    """Returns a sufficient size in bytes for a problem's workspace, whether it runs all steps at once or in chunks."""
    count = len(directions_of(parameters))
    w, p = parameters[0], parameters[4]
    gates = GATES[cell]
    projected = () if p is None else (p.shape[0], x.element_size())
    steps, batch, _ = x.shape
    whole = workspace_bytes(cell, steps, batch, gates, w.shape[0] // gates, *projected)
    return (whole + MOST_CHUNKS * 5 * 64) * count


def _parts(arguments):
    *tensors, cell, activation = arguments
    return [bare(tensor) for tensor in tensors[:4]], [bare(tensor) for tensor in tensors[4:]], cell, activation or None


def _kind(directions):
    return "bidirectional_concat" if directions == 2 else "left2right"


def _run(*arguments):
    *arguments, training = arguments
    (x, h, c, lengths), parameters, cell, activation = _parts(arguments)
    refuse_tangents(*arguments[:len(PLACES)])
    use_threads()
    arrays = canonical(cell, directions_of(parameters))
    steps = falling(lengths)
    workspace = x.new_empty(_room(cell, x, parameters), dtype=torch.uint8) if training else None
    if steps:
        y, h, c = run_chunks(split(cell, activation, arrays), x, h, c, lengths, steps, workspace)
    else:
        w, u, bias, projection = arrays
        needed = None if workspace is None else workspace[:_whole_bytes(cell, x, w, projection)]
        y, h, c, _ = _forward(x, *(None if s is None else s[None] for s in (h, c)), None, lengths, w, u, None,
                              projection, bias, None, None, None, needed, cell, _kind(w.shape[1]), activation, 0.0, 0,
                              training)
        h, c = h[0], None if c is None else c[0]
    empty = x.new_empty(0)
    return y, h, empty if c is None else c, empty if workspace is None else workspace


def _whole_bytes(cell, x, w, projection):
    count = w.shape[1]
    projected = () if projection is None else (projection.shape[3], x.element_size())
    # The sections of several directions are adjacent: the size is that of one direction with `count` times the steps.
    return workspace_bytes(cell, x.shape[0] * count, x.shape[1], w.shape[3], w.shape[4], *projected)


def _fake(*arguments):
    *tensors, cell, _, training = arguments
    x, h, c, _, *parameters = tensors
    directions = len(directions_of(parameters))
    hidden = parameters[0].shape[0] // GATES[cell]
    size = hidden if parameters[4] is None else parameters[4].shape[0]
    steps, batch, _ = x.shape
    empty = x.new_empty(0)
    cells = x.new_empty((directions, batch, hidden), dtype=torch.float32) if cell == "lstm" else empty
    return (x.new_empty(steps, batch, directions * size), x.new_empty(directions, batch, size), cells,
            x.new_empty(_room(cell, x, parameters), dtype=torch.uint8) if training else empty)


rnn = define(f"rnn({_TENSORS}, str cell, str activation, bool training) -> (Tensor, Tensor, Tensor, Tensor)", _run,
             _fake)


# --- Backward ---

_NAMES = {"x": "src_layer", "h": "src_iter", "c": "src_iter_c", "w": "weights_layer", "u": "weights_iter",
          "p": "weights_projection", "b_ih": "bias", "b_hh": "bias"}


def _zeros(name, cell, parameters):
    """Returns (zeros for the gradient of one direction in Quern's layout, the same memory in PyTorch's layout)."""
    w, u, b_ih, _, p = parameters
    gates = GATES[cell]
    if name == "bias":
        memory = torch.zeros(4 if cell == "lbr_gru" else gates, b_ih.shape[0] // gates)
        return memory[None, None], memory
    if name == "weights_projection":
        memory = torch.zeros(p.shape[1], p.shape[0])
        return memory[None, None], memory
    memory = torch.zeros((w if name == "weights_layer" else u).shape)
    return memory.unflatten(0, (gates, -1)).permute(2, 0, 1)[None, None], memory


def _of_pytorch(cell, made):
    """Converts gradients, which `made` has under Quern's names, to PyTorch's list [w, u, b_ih, b_hh, p]."""
    is_gru, bias = cell == "lbr_gru", made.get("bias")

    def in_order(array):
        return array if array is None or not is_gru else _swapped(array)
    first = second = None
    if bias is not None:
        first = _swapped(bias[:3]).flatten() if is_gru else bias.flatten()
        second = _swapped(torch.cat((bias[:2], bias[3:]))).flatten() if is_gru else first.clone()
    projection = made.get("weights_projection")
    return [in_order(made.get("weights_layer")), in_order(made.get("weights_iter")), first, second,
            None if projection is None else projection.T.contiguous()]


def _chunk_gradients(cell, activation, inputs, arrays, parameters, forward, given, names, steps):
    """Returns (gradients of x, h and c, gradients by name for each direction)."""
    x, h, c, lengths = inputs
    y, workspace = forward
    dy, dh, dc = given
    if x.stride(2) != 1:
        x = x.contiguous()
    if dy.stride(2) != 1:
        dy = dy.contiguous()
    directions = split(cell, activation, arrays)
    size = directions[0].states
    h, c = _states(x, h, c, len(directions), cell == "lstm", size, directions[0].hidden)
    dh = torch.zeros(h.shape) if dh is None else dh.clone(memory_format=torch.contiguous_format)
    if c is not None:
        dc = torch.zeros(c.shape) if dc is None else dc.clone(memory_format=torch.contiguous_format)
    dx, made = [], []
    chunks = chunks_of(steps, x.shape[0], directions[0].worth(True))
    for at, direction in enumerate(directions):
        pairs = {name: _zeros(name, cell, parameters[at]) for name in names if name.startswith(("w", "b"))}
        gradients = {name: pair[0] for name, pair in pairs.items()}
        if "src_layer" in names:
            dx.append(torch.empty(x.shape))
            clear_outside(chunks, dx[-1])
            gradients["src_layer"] = dx[-1]
        part = slice(at * size, (at + 1) * size)
        direction.backward(chunks, x, h[at], None if c is None else c[at], lengths, y[:, :, part],
                           workspace.chunk(len(directions))[at], dy[:, :, part], dh[at],
                           None if c is None else dc[at], gradients)
        made.append({name: pair[1] for name, pair in pairs.items()})
    dx = None if not dx else dx[0] if len(dx) == 1 else dx[0] + dx[1]
    return dx, dh, dc, made


def _whole_gradients(cell, activation, inputs, arrays, parameters, forward, given, names):
    """Does the same as `_chunk_gradients`, with a single call."""
    x, h, c, lengths = inputs
    w, u, bias, projection = arrays
    y, last_h, last_c, workspace = forward
    is_one = len(parameters) == 1
    pairs = {name: _zeros(name, cell, parameters[0]) for name in names if name.startswith(("w", "b"))} if is_one else {}
    outs = [pairs[name][0] if name in pairs else None
            for name in ("src_layer", "src_iter", "src_iter_c", "attention", "weights_layer", "weights_iter",
                         "weights_peephole", "weights_projection", "bias")]
    states = [None if s is None else s[None] for s in (h, c, last_h, last_c, given[1], given[2])]
    dx, dh, dc, _, dw, du, _, dp, db = _backward(
        x, *states[:2], None, lengths, w, u, None, projection, bias, y, *states[2:4],
        workspace[:_whole_bytes(cell, x, w, projection)], given[0], *states[4:], *outs, cell, _kind(w.shape[1]),
        activation, 0.0, OVERWRITE, tuple("diff_" + name for name in names))
    if is_one:
        made = [{name: pair[1] for name, pair in pairs.items()}]
    else:
        made = [{name: _as_rows(name, array[0, at]) for name, array in
                 (("weights_layer", dw), ("weights_iter", du), ("weights_projection", dp), ("bias", db))
                 if array is not None} for at in range(2)]
    return dx, dh if dh is None else dh[0], dc if dc is None else dc[0], made


def _as_rows(name, array):
    return array.permute(1, 2, 0).flatten(0, 1) if name in ("weights_layer", "weights_iter") else array


def _run_backward(*arguments):
    *tensors, cell, activation, wanted = arguments
    inputs, parameters = tensors[:4], directions_of(list(map(bare, tensors[4:len(PLACES)])))
    inputs = list(map(bare, inputs))
    y, last_h, last_c, workspace, dy, dh, dc = map(bare, tensors[len(PLACES):])
    use_threads()
    is_wanted = dict(zip(PLACES, wanted))
    names = tuple(name for name in dict.fromkeys(_NAMES.values())
                  if any(is_wanted[place] for place in PLACES if _NAMES.get(place.removesuffix("_reverse")) == name))
    arrays = canonical(cell, parameters)
    steps = falling(inputs[3])
    rest = (cell, activation or None, inputs, arrays, parameters)
    dy, dh, dc = (None if array is None else array.float() for array in (dy, dh, dc))
    if steps:
        dx, dh, dc, made = _chunk_gradients(*rest, (y, workspace), (dy, dh, dc), names, steps)
    else:
        last_c = last_c if cell == "lstm" else None
        dx, dh, dc, made = _whole_gradients(*rest, (y, last_h, last_c, workspace), (dy, dh, dc), names)
    results = dict(zip(PLACES, (dx, dh, dc, None)))
    for suffix, memories in zip(("", "_reverse"), made):
        results |= zip((name + suffix for name in _OF_DIRECTION), _of_pytorch(cell, memories))
    return [results[name].to(tensors[at].dtype) if is_wanted[name] else y.new_empty(0)
            for at, name in enumerate(PLACES)]


def _fake_backward(*arguments):
    *tensors, _, _, wanted = arguments
    return [torch.empty_like(tensor, memory_format=torch.contiguous_format) if is_wanted else tensors[0].new_empty(0)
            for tensor, is_wanted in zip(tensors, wanted)]


rnn_backward = define(
    f"rnn_backward({_TENSORS}, Tensor y, Tensor last_h, Tensor last_c, Tensor workspace, Tensor dy, Tensor? dh, "
    "Tensor? dc, str cell, str activation, bool[] wanted) -> Tensor[]", _run_backward, _fake_backward,
    is_gradient=True)


def _keep(ctx, inputs, output):
    tensors, ctx.parameters = inputs[:len(PLACES)], inputs[len(PLACES):-1]
    ctx.there = [tensor is not None for tensor in tensors]
    ctx.save_for_backward(*(tensor for tensor in tensors if tensor is not None), *output)


def _gradients(ctx, dy, dh, dc, _, backward=rnn_backward):
    saved = list(ctx.saved_tensors)
    tensors = [saved.pop(0) if is_there else None for is_there in ctx.there]
    wanted = [bool(needed) and name != "lengths" for name, needed in zip(PLACES, ctx.needs_input_grad)]
    is_lstm = ctx.parameters[0] == "lstm"
    if dy is None:
        dy = torch.zeros(saved[0].shape)
    made = backward(*tensors, *saved, dy, dh, dc if is_lstm else None, *ctx.parameters, wanted)
    return (*(gradient if is_wanted else None for gradient, is_wanted in zip(made, wanted)), None, None, None)


torch.library.register_autograd("quern::rnn", _gradients, setup_context=_keep, lib=library)


class _Recorded(torch.autograd.Function):
    """The operator without the dispatcher, which would take longer than a small layer."""

    @staticmethod
    def forward(ctx, *arguments):  # pylint: disable=arguments-differ
        output = _run(*arguments)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(output[3])
        _keep(ctx, arguments, output)
        return output

    @staticmethod
    def backward(ctx, *gradients):  # pylint: disable=arguments-differ
        # With create_graph, autograd records the operator, which rejects differentiation.
        return _gradients(ctx, *gradients, backward=rnn_backward if torch.is_grad_enabled() else _run_backward)


_transformed_backward = refuse_derivative(lambda *arguments: tuple(rnn_backward(*arguments)))


def _keep_transformed(ctx, inputs, output):
    ctx.mark_non_differentiable(output[3])
    ctx.set_materialize_grads(False)
    _keep(ctx, inputs, output)


_transformed = transformable(
    rnn, _keep_transformed, lambda ctx, *gradients: _gradients(ctx, *gradients, backward=_transformed_backward))


def call(*arguments):
    """Calls the operator by the fastest path."""
    if is_transformed() and not torch.compiler.is_compiling():
        return _transformed(*arguments)
    if torch._C._get_tracing_state():
        # A recorded graph may be differentiated, even if it is recorded (and checked) under torch.no_grad().
        arguments = (*arguments[:-1], True)
    if torch.compiler.is_compiling() or not are_plain(*arguments[:len(PLACES)]):
        return rnn(*arguments)
    return _Recorded.apply(*arguments) if arguments[-1] else _run(*arguments)
