# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A direction of a recurrent layer over sequences in descending order of length. It divides the steps into chunks, each
with the sequences that have not ended.

Computing the whole batch would waste the steps after the end of shorter sequences. The kernels have open numbers of
steps and sequences, so new lengths compile nothing.
"""

import collections
import functools

import torch

from quern import _quern
from quern._arguments import DST, RNN_INDEX, SRC, WORKSPACE
from quern._frameworks import type_name
from quern._rnn import rnn_line

MOST_CHUNKS = 32
# Padding that justifies another chunk, in steps of one sequence: the cost of a call in microseconds, and for training
# the additional cost of weight gradients, which are sums over at least 64 rows.
_CALL = 30
_ROW_FLOPS = 2e5  # per microsecond
_TRAINING = 48

Chunk = collections.namedtuple("Chunk", "begin end count")
Chunk.__doc__ = "Steps, and how many sequences run in the first of them."


def chunks_of(lengths, steps, worth):
    """Returns at most MOST_CHUNKS chunks for a descending list of lengths. The padding of each chunk except the last is
    less than `worth` steps of sequences."""
    chunks, begin, count, running, padding, step = [], 0, len(lengths), len(lengths), 0, 0
    last = min(lengths[0], steps) if lengths else 0
    while step < last:
        while lengths[running - 1] <= step:
            running -= 1
        end = min(lengths[running - 1], steps)  # no sequence ends before it
        padding += (end - step) * (count - running)
        if padding >= worth and step > begin and len(chunks) < MOST_CHUNKS - 1:
            chunks.append(Chunk(begin, step, count))
            begin, count, padding = step, running, 0
        step = end
    return [*chunks, Chunk(begin, last, count)] if last else []


def clear_outside(chunks, array):
    """Zeros the elements of an array [T, N, …] that no chunk writes."""
    for begin, end, count in chunks:
        if count < array.shape[1]:
            array[begin:end, count:].zero_()
    if not chunks or chunks[-1].end < array.shape[0]:
        array[chunks[-1].end if chunks else 0:].zero_()


@functools.lru_cache(512)
def _kernel(line):
    descriptor = _quern.Descriptor.from_text(line)
    return descriptor, _quern.Kernel(descriptor)


@functools.lru_cache(512)
def _packing(tensor, line, index):
    layout = _kernel(line)[0].layout(index)
    return _quern.Kernel(_quern.Descriptor.pack(_quern.Tensor(*tensor), layout)), layout.bytes


class Direction:
    """One direction of one layer; its weights are packed once for each kind of propagation.

    Args:
        parameters: (cell, "left2right" or "right2left", activation or None).
        w, u, bias, projection: weights of one layer and direction, see quern.lstm.
    """

    def __init__(self, parameters, w, u, bias, projection):
        self.parameters = (*parameters, 0.0, 0)
        self.is_reverse = parameters[1] == "right2left"
        self.is_lstm = parameters[0] == "lstm"
        self.weights = {"weights_layer": w, "weights_iter": u, "weights_projection": projection}
        self.weights = {name: array for name, array in self.weights.items() if array is not None}
        self.bias = None if bias is None else bias.contiguous()
        self.type = type_name(w.dtype)
        _, _, self.inputs, self.gates, self.hidden = w.shape
        self.states = self.hidden if projection is None else projection.shape[3]
        self._packed = {}

    def worth(self, training):
        """Returns the padding that justifies another chunk, for `chunks_of`."""
        flops = 2 * self.gates * self.hidden * (self.inputs + self.states)
        return _CALL * _ROW_FLOPS / flops + (_TRAINING if training else 4)

    def _line(self, prop, wanted=()):
        states = {"src_iter": (self.type, self.states), "dst_iter": (self.type, self.states)}
        if self.is_lstm:
            states |= {"src_iter_c": ("f32", self.hidden), "dst_iter_c": ("f32", self.hidden)}
        sequences = {"src_layer": (self.type, self.inputs), "dst_layer": (self.type, self.states)}
        dims = {name: "x".join(map(str, array.shape)) for name, array in self.weights.items()}
        texts = {name: f"{type}:?x?x{size}:s?x?x1" for name, (type, size) in sequences.items()}
        texts |= {name: f"{type}:1x1x?x{size}:s?x?x?x1" for name, (type, size) in states.items()}
        texts |= {name: f"{self.type}:{size}:any" for name, size in dims.items()}
        texts["seq_lengths"] = "s32:?:a"
        if self.bias is not None:
            dims["bias"] = "x".join(map(str, self.bias.shape))
            texts["bias"] = f"{type_name(self.bias.dtype)}:{dims['bias']}:abcd"
        if prop != "bwd":
            return rnn_line(prop, self.parameters, texts)
        for name in ("src_iter", "src_iter_c", "dst_layer", "dst_iter", "dst_iter_c", *wanted):
            if name in sequences:
                texts["diff_" + name] = f"f32:?x?x{sequences[name][1]}:s?x?x1"
            elif name in states:
                texts["diff_" + name] = f"f32:1x1x?x{states[name][1]}:s?x?x?x1"
            elif name in ("weights_layer", "weights_iter"):
                size = self.inputs if name == "weights_layer" else self.states
                texts["diff_" + name] = f"f32:{dims[name]}:" + gradient_strides(size, self.gates, self.hidden)
            elif name in dims:
                texts["diff_" + name] = f"f32:{dims[name]}:abcd"
        return rnn_line("bwd", self.parameters, texts)

    def _constants(self, line, prop):
        """Returns the bindings that are the same for all chunks."""
        if prop not in self._packed:
            bindings = []
            for name, array in self.weights.items():
                kernel, size = _packing((self.type, tuple(array.shape), array.stride()), line, RNN_INDEX[name])
                buffer = torch.empty(size, dtype=torch.uint8)
                kernel.execute([(SRC, array, False, False), (DST, buffer, True, True)])
                bindings.append((RNN_INDEX[name], buffer, False, True))
            if self.bias is not None:
                bindings.append((RNN_INDEX["bias"], self.bias, False, False))
            self._packed[prop] = bindings
        return self._packed[prop]

    def _workspace_of(self, workspace, offset, chunk):
        """Returns (the chunk's bytes in the workspace, offset of the next chunk)."""
        size = workspace_bytes(self.parameters[0], chunk.end - chunk.begin, chunk.count, self.gates, self.hidden,
                               *self._projected())
        return workspace[offset:offset + size], offset + size

    def _projected(self):
        return (self.states, self.weights["weights_layer"].element_size()) if "weights_projection" in self.weights \
            else ()

    def _in_order(self, chunks):
        """Returns the chunks in forward order."""
        return list(reversed(chunks)) if self.is_reverse else chunks

    def forward(self, chunks, x, h, c, lengths, y, workspace=None):
        """Writes y, and overwrites the initial states `h` [N, P] and `c` [N, H] (f32; None except for an LSTM) with the
        final ones."""
        prop = "fwd_i" if workspace is None else "fwd_t"
        line = self._line(prop)
        kernel, constants, offset = _kernel(line)[1], self._constants(line, prop), 0
        for chunk in self._in_order(chunks):
            begin, end, count = chunk
            bindings = [*constants, (RNN_INDEX["src_layer"], x[begin:end, :count], False, False),
                        (RNN_INDEX["dst_layer"], y[begin:end, :count], True, False),
                        (RNN_INDEX["seq_lengths"], lengths[:count] - begin, False, False)]
            for name, state in (("iter", h), ("iter_c", c)):
                if state is not None:
                    view = state[None, None, :count]
                    bindings += [(RNN_INDEX["src_" + name], view, False, False),
                                 (RNN_INDEX["dst_" + name], view, True, False)]
            if workspace is not None:
                chunk_workspace, offset = self._workspace_of(workspace, offset, chunk)
                bindings.append((WORKSPACE, chunk_workspace, True, False))
            kernel.execute(bindings)

    def backward(self, chunks, x, h, c, lengths, y, workspace, dy, dh, dc, gradients):
        """Computes the gradients of forward().

        Args:
            h, c: initial states.
            dh, dc: gradients of the final states, f32; overwritten with those of the initial states.
            gradients: f32 zeros by "src_layer", "weights_layer", … to which gradients are added; those of weights have
                `gradient_strides`.
        """
        line = self._line("bwd", tuple(gradients))
        kernel, constants = _kernel(line)[1], self._constants(line, "bwd")
        fixed = [*constants, *((RNN_INDEX["diff_" + name], array, True, False) for name, array in gradients.items()
                               if name != "src_layer")]
        kept, offset, before = [], 0, None
        for chunk in self._in_order(chunks):
            chunk_workspace, offset = self._workspace_of(workspace, offset, chunk)
            kept.append((chunk, chunk_workspace, self._start(h, c, y, before, chunk)))
            before = chunk, chunk_workspace
        for (begin, end, count), chunk_workspace, starts in reversed(kept):
            def view(array, begin=begin, end=end, count=count):
                return array[begin:end, :count]
            bindings = [*fixed, (RNN_INDEX["src_layer"], view(x), False, False),
                        (RNN_INDEX["dst_layer"], view(y), False, False), (WORKSPACE, chunk_workspace, False, False),
                        (RNN_INDEX["diff_dst_layer"], view(dy), False, False),
                        (RNN_INDEX["seq_lengths"], lengths[:count] - begin, False, False)]
            if "src_layer" in gradients:
                bindings.append((RNN_INDEX["diff_src_layer"], view(gradients["src_layer"]), True, False))
            made = []
            for name, start, later in zip(("iter", "iter_c"), starts, (dh, dc)):
                if start is None:
                    continue
                earlier = torch.empty_like(later[:count])
                made.append((later, earlier))
                bindings += [(RNN_INDEX["src_" + name], start, False, False),
                             (RNN_INDEX["dst_" + name], start, False, False),  # not read
                             (RNN_INDEX["diff_dst_" + name], later[None, None, :count], False, False),
                             (RNN_INDEX["diff_src_" + name], earlier[None, None], True, False)]
            kernel.execute(bindings)
            for later, earlier in made:
                later[:count] = earlier

    def _start(self, h, c, y, before, chunk):
        """Returns the initial states of a chunk: those of the chunk before, and for new sequences those of the
        layer."""
        h, c = h[:chunk.count].clone(), None if c is None else c[:chunk.count].clone()
        if before:
            (begin, end, count), chunk_workspace = before
            count = min(count, chunk.count)
            h[:count] = y[begin if self.is_reverse else end - 1, :count]
            if c is not None:
                steps, size = end - begin, before[0].count * self.hidden
                offset = 64 + _aligned(steps * size * self.gates * 4)
                cells = chunk_workspace[offset:offset + steps * size * 4].view(torch.float32)
                cells = cells.view(steps, -1, self.hidden)
                c[:count] = cells[0 if self.is_reverse else -1, :count]
        return h[None, None], None if c is None else c[None, None]


def _aligned(size):
    return (size + 63) // 64 * 64


def gradient_strides(size, gates, hidden):
    """Returns the strides of [1, 1, size, gates, hidden] for a dense [gates * hidden, size], PyTorch's layout of
    weights."""
    whole = gates * hidden * size
    return f"s{whole}x{whole}x1x{hidden * size}x{size}"


def workspace_bytes(cell, steps, batch, gates, hidden, projected=None, element=0):
    """Returns the bytes of a workspace for one layer and direction (docs/primitives/rnn.md). Sections start at
    multiples of 64.

    `projected` is the number of channels after a projection, and `element` the bytes of one.
    """
    count = steps * batch
    sizes = [count * gates * hidden * 4]
    if cell == "lstm":
        sizes.append(count * hidden * 4)
    if cell.startswith("lbr"):
        sizes.append(count * hidden * 4)
    if projected is not None:
        sizes.append(count * projected * element)
    return 64 + sum(map(_aligned, sizes))
