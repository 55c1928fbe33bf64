# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How operators of PyTorch are made."""

import importlib

import torch

import quern
from quern import _quern

_threads = 0


def use_threads():
    """As many threads as PyTorch uses, where they are not PyTorch's own."""
    global _threads  # pylint: disable=global-statement
    count = 0 if _quern.has_torch_threads() else torch.get_num_threads()
    if count and count != _threads:
        quern.set_num_threads(count)
        _threads = count


def _built():
    """The module of operators that was built for this PyTorch and this Python; None: there is none."""
    version = "_".join(torch.__version__.split(".")[:2])
    try:
        return importlib.import_module(f"quern._torch_{version}")
    except ImportError:
        return None


built = _built()
library = torch.library.Library("quern", "FRAGMENT")


def define(schema, implementation, fake):
    """quern::NAME of the schema, on the CPU and as shapes; without an implementation there is a built one."""
    name = schema.partition("(")[0]
    library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    if implementation:
        library.impl(name, implementation, "CPU")
    torch.library.register_fake("quern::" + name, fake, lib=library)
    return getattr(torch.ops.quern, name).default


def bare(tensor):
    """Without what autograd records."""
    return tensor.detach() if tensor is not None and tensor.requires_grad else tensor


def is_plain(x):
    """Whether a call may pass by PyTorch's dispatcher, but for autograd: nothing traces or transforms it."""
    return (type(x) is torch.Tensor and x.is_cpu and not torch._C._are_functorch_transforms_active()
            and not torch._C._len_torch_dispatch_stack() and not torch._C._len_torch_function_stack()
            and not torch._C._get_tracing_state())
