# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch operators for softmax and elementwise functions: compiled ones (src/Torch.cpp) or, for a PyTorch or Python
version without a compiled module, the same in Python."""

import torch

from quern import _quern
from quern._functions import _eltwise, _eltwise_backward, _softmax, _softmax_backward
from quern._torch_operators import (are_plain, bare, built, define, is_transformed, library,
                                    refuse_derivative, refuse_tangents, transformable, use_threads)


def _like(x, *_):
    return x.new_empty(x.shape)


def _like_softmax(x, *_):
    return x.new_empty(x.shape, dtype=x.dtype if x.is_floating_point() else torch.float32)


def _run_softmax(x, dim, log):
    refuse_tangents(x)
    use_threads()
    return _softmax(bare(x), None, dim, "log" if log else "accurate", None)


def _run_softmax_backward(y, dy, dim, log):
    use_threads()
    return _softmax_backward(bare(y), bare(dy), None, dim, "log" if log else "accurate", None)


def _run_eltwise(x, algorithm, alpha, beta):
    refuse_tangents(x)
    use_threads()
    return _eltwise(bare(x), None, algorithm, alpha, beta, None)


def _run_eltwise_backward(x, dy, algorithm, alpha, beta):
    use_threads()
    return _eltwise_backward(bare(x), bare(dy), None, algorithm, alpha, beta, None)


def _define(schema, implementation, fake=_like, **options):
    return define(schema, None if built else implementation, fake, **options)


softmax_op = _define("softmax(Tensor x, int dim, bool log) -> Tensor", _run_softmax, _like_softmax)
softmax_backward_op = _define("softmax_backward(Tensor y, Tensor dy, int dim, bool log) -> Tensor",
                              _run_softmax_backward, is_gradient=True)
eltwise_op = _define("eltwise(Tensor x, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise)
eltwise_backward_op = _define(
    "eltwise_backward(Tensor x, Tensor dy, str algorithm, float alpha, float beta) -> Tensor", _run_eltwise_backward,
    is_gradient=True)


def _keep_softmax(ctx, inputs, output):
    ctx.dim, ctx.log = inputs[1:]
    ctx.save_for_backward(output)


def _keep_eltwise(ctx, inputs, output):
    ctx.parameters = inputs[1:]
    ctx.save_for_backward(output if ctx.parameters[0].endswith("_use_dst_for_bwd") else inputs[0])


def _is_bare(x):
    return are_plain(x) and not (x.requires_grad and torch.is_grad_enabled())


def _softmax_gradients(ctx, dy, backward=softmax_backward_op):
    return backward(*ctx.saved_tensors, dy, ctx.dim, ctx.log), None, None


def _eltwise_gradients(ctx, dy, backward=eltwise_backward_op):
    return backward(*ctx.saved_tensors, dy, *ctx.parameters), None, None, None


def _in_python(operator, run, keep, gradients, backward_operator):
    """Returns a function that calls an operator without a compiled module, or returns NotImplemented if PyTorch's
    dispatcher must handle the call."""
    torch.library.register_autograd(operator.name(), gradients, setup_context=keep, lib=library)
    backward = refuse_derivative(backward_operator)
    transformed = transformable(operator, keep, lambda ctx, dy: gradients(ctx, dy, backward=backward))

    def call(*arguments):
        if is_transformed():
            return transformed(*arguments)
        return run(*arguments) if _is_bare(arguments[0]) else NotImplemented
    return call


if built:
    built.start(*_quern.torch_handles())
    plain_softmax, plain_eltwise = built.softmax, built.eltwise
else:
    plain_softmax = _in_python(softmax_op, _run_softmax, _keep_softmax, _softmax_gradients, softmax_backward_op)
    plain_eltwise = _in_python(eltwise_op, _run_eltwise, _keep_eltwise, _eltwise_gradients, eltwise_backward_op)
