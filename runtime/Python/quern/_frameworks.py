# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of arrays by their names in a line, and arrays for results beside those of a caller."""

import numpy

from quern._errors import Error

# By the name in a problem's line: NumPy's name of the type; those of ml_dtypes have its module in front.
NUMPY = {
    "f64": "float64", "f32": "float32", "f16": "float16", "s32": "int32", "s8": "int8", "u8": "uint8",
    "bf16": "ml_dtypes.bfloat16", "f8_e5m2": "ml_dtypes.float8_e5m2", "f8_e4m3": "ml_dtypes.float8_e4m3fn",
}
NAMES = {name.rpartition(".")[2]: type for type, name in NUMPY.items()} | {"bool": "u8"}


def numpy_dtype(type):
    """The NumPy dtype of a type's name ("bf16")."""
    if type not in NUMPY:
        raise Error(f"no NumPy type holds {type}", 3)
    module, _, name = NUMPY[type].rpartition(".")
    if not module:
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise Error(f"an array of {type} needs the package ml_dtypes", 5) from None
    return numpy.dtype(getattr(ml_dtypes, name))


def type_name(dtype):
    """The name in a line ("bf16") of a dtype of NumPy, ml_dtypes, PyTorch or JAX, or of its name."""
    if isinstance(dtype, str) and dtype in NUMPY:
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        text = text[len("torch."):]
    elif text not in NAMES:
        text = numpy.dtype(dtype).name
    if text not in NAMES:
        raise Error(f"'{dtype}' is no type that Quern computes with", 3)
    return NAMES[text]


def aligned(shape, dtype):
    """A NumPy array that begins at a multiple of 64 bytes, as JAX takes arrays without a copy."""
    count = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    memory = numpy.empty(count + 64, numpy.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + count].view(dtype).reshape(shape)


def torch_dtype(type):
    """PyTorch's type of a type's name ("bf16")."""
    import torch
    return getattr(torch, NUMPY[type].rpartition(".")[2])


def numpy_empty(type, dims):
    """An array of NumPy."""
    return numpy.empty(dims, numpy_dtype(type))


def torch_empty(type, dims):
    """A tensor of PyTorch."""
    import torch
    return torch.empty(dims, dtype=torch_dtype(type))


def zeros(like, type, dims):
    """Zeros of a type's name and dims, in the framework of the array `like`."""
    framework = like.__class__.__module__.partition(".")[0]
    if framework == "torch":
        import torch
        return torch.zeros(dims, dtype=torch_dtype(type))
    if framework in ("jax", "jaxlib"):
        return deliver(numpy.zeros(dims, numpy_dtype(type)))
    return numpy.zeros(dims, numpy_dtype(type))


def deliver(array):
    """What the caller of JAX gets."""
    import jax.numpy
    return jax.numpy.asarray(array)
