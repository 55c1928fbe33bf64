# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers that define PyTorch operators."""

import importlib

import torch
from torch.autograd import forward_ad

import quern
from quern import _quern

_threads = 0

# Dispatch keys of plain CPU tensors, created in inference mode or outside. PyTorch's dispatcher handles any other key
# (a negative bit, a wrapper of a transformation, a sparse or fake tensor).
_PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)
with torch.inference_mode():
    _PLAIN_KEYS = {torch._C._dispatch_keys(torch.empty(0)).raw_repr()}
_PLAIN_KEYS.add(torch._C._dispatch_keys(torch.empty(0)).raw_repr())


def use_threads():
    """Sets the number of threads to PyTorch's, unless the kernels run on PyTorch's own threads."""
    global _threads  # pylint: disable=global-statement
    count = 0 if _quern.has_torch_threads() else torch.get_num_threads()
    if count and count != _threads:
        quern.set_num_threads(count)
        _threads = count


def _built():
    """Returns the compiled module of operators for this PyTorch and this Python, or None."""
    version = "_".join(torch.__version__.split(".")[:2])
    try:
        return importlib.import_module(f"quern._torch_{version}")
    except ImportError:
        return None


built = _built()
library = torch.library.Library("quern", "FRAGMENT")


def define(schema, implementation, fake, *, is_gradient=False):
    """Defines the operator quern::NAME of the schema for the CPU and for shapes.

    Without an implementation, the compiled module provides it. A gradient operator rejects differentiation.
    """
    name = schema.partition("(")[0]
    library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    if implementation:
        library.impl(name, implementation, "CPU")
    torch.library.register_fake("quern::" + name, fake, lib=library)
    if is_gradient and implementation:
        torch.library.register_autograd("quern::" + name, _refuse_second_derivative, lib=library)
    return getattr(torch.ops.quern, name).default


def _refuse_second_derivative(ctx, *gradients):
    raise quern.Error("a gradient of quern.torch is differentiated; second derivatives are not implemented", 3)


def refuse_tangents(*tensors):
    """Fails if forward-mode differentiation needs the tangent of a result."""
    if forward_ad._current_level >= 0 and any(
            tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors):
        raise quern.Error("an operator of quern.torch has an input with a tangent; forward-mode differentiation is not "
                          "implemented", 3)


def transformable(operator, keep, gradients):
    """Returns a function like `operator` for the transformations of torch.func, which register_autograd() does not
    support.

    Args:
        keep, gradients: `setup_context` and `backward` of a torch.autograd.Function.
    """
    class Transformable(torch.autograd.Function):
        forward, setup_context, backward = (staticmethod(function) for function in (operator, keep, gradients))

        @staticmethod
        def vmap(info, in_dims, *arguments):
            """Calls the function for each index of the mapped dims."""
            def at(i):
                return [argument if dim is None else argument.select(dim, i)
                        for argument, dim in zip(arguments, in_dims)]
            # A list of flags has a list of dims and is not mapped.
            in_dims = [None if isinstance(dim, list) else dim for dim in in_dims]
            results = [Transformable.apply(*at(i)) for i in range(info.batch_size)]
            if isinstance(results[0], torch.Tensor):
                return torch.stack(results), 0
            return tuple(map(torch.stack, zip(*results))), (0,) * len(results[0])
    return Transformable.apply


def refuse_derivative(operator):
    """Returns a gradient operator for the transformations of torch.func that raises if it is differentiated."""
    return transformable(operator, lambda ctx, inputs, output: None, _refuse_second_derivative)


def is_transformed():
    """Returns whether a transformation of torch.func is active."""
    return torch._C._are_functorch_transforms_active()


def bare(tensor):
    """Returns the tensor detached from autograd."""
    return tensor.detach() if tensor is not None and tensor.requires_grad else tensor


def are_plain(*tensors):
    """Returns whether a call may bypass PyTorch's dispatcher, except for autograd: nothing traces or transforms it, and
    each tensor (or None) is stored as its type, strides and address describe."""
    return (all(tensor is None or (type(tensor) in _PLAIN_TYPES
                                   and torch._C._dispatch_keys(tensor).raw_repr() in _PLAIN_KEYS) for tensor in tensors)
            and not torch._C._are_functorch_transforms_active()
            and not torch._C._len_torch_dispatch_stack() and not torch._C._len_torch_function_stack()
            and not torch._C._get_tracing_state())
