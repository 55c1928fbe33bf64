# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of PyTorch for softmax and functions of elements: built ones (src/Torch.cpp), or, for a PyTorch or a Python
that none were built for, the same in Python."""

import torch

from quern import _quern
from quern._functions import _eltwise, _eltwise_backward, _softmax, _softmax_backward
from quern._torch_operators import bare, built, define, is_plain, library, use_threads


def _like(x, *_):
    return x.new_empty(x.shape)


def _run_softmax(x, dim, log):
    use_threads()
    return _softmax(bare(x), None, dim, "log" if log else "accurate", None)


def _run_softmax_backward(y, dy, dim, log):
    use_threads()
    return _softmax_backward(bare(y), bare(dy), None, dim, "log" if log else "accurate", None)


def _run_eltwise(x, algorithm, alpha, beta):
    use_threads()
    return _eltwise(bare(x), None, algorithm, alpha, beta, None)


def _run_eltwise_backward(x, dy, algorithm, alpha, beta):
    use_threads()
    return _eltwise_backward(bare(x), bare(dy), None, algorithm, alpha, beta, None)


def _define(schema, implementation):
    return define(schema, None if built else implementation, _like)


softmax_op = _define("softmax(Tensor x, int dim, bool log) -> Tensor", _run_softmax)
softmax_backward_op = _define("softmax_backward(Tensor y, Tensor dy, int dim, bool log) -> Tensor",
                              _run_softmax_backward)
eltwise_op = _define("eltwise(Tensor x, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise)
eltwise_backward_op = _define(
    "eltwise_backward(Tensor x, Tensor dy, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise_backward)


def _keep_softmax(ctx, inputs, output):
    ctx.dim, ctx.log = inputs[1:]
    ctx.save_for_backward(output)


def _keep_eltwise(ctx, inputs, output):
    ctx.parameters = inputs[1:]
    ctx.save_for_backward(output if ctx.parameters[0].endswith("_use_dst_for_bwd") else inputs[0])


def _is_bare(x):
    return is_plain(x) and not (x.requires_grad and torch.is_grad_enabled())


def _softmax_in_python(x, dim, log):
    return _run_softmax(x, dim, log) if _is_bare(x) else NotImplemented


def _eltwise_in_python(x, algorithm, alpha, beta):
    return _run_eltwise(x, algorithm, alpha, beta) if _is_bare(x) else NotImplemented


if built:
    built.start(*_quern.torch_handles())
    plain_softmax, plain_eltwise = built.softmax, built.eltwise
else:
    torch.library.register_autograd(
        "quern::softmax", lambda ctx, dy: (softmax_backward_op(*ctx.saved_tensors, dy, ctx.dim, ctx.log), None, None),
        setup_context=_keep_softmax, lib=library)
    torch.library.register_autograd(
        "quern::eltwise",
        lambda ctx, dy: (eltwise_backward_op(*ctx.saved_tensors, dy, *ctx.parameters), None, None, None),
        setup_context=_keep_eltwise, lib=library)
    plain_softmax, plain_eltwise = _softmax_in_python, _eltwise_in_python
