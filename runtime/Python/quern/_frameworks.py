# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of arrays by their names in the text form, and new arrays in the framework of the caller's arrays."""

import numpy

from quern._errors import Error

# NumPy's name of each type in the text form; names of ml_dtypes include the module.
NUMPY = {
    "f64": "float64", "f32": "float32", "f16": "float16", "s32": "int32", "s8": "int8", "u8": "uint8",
    "bf16": "ml_dtypes.bfloat16", "f8_e5m2": "ml_dtypes.float8_e5m2", "f8_e4m3": "ml_dtypes.float8_e4m3fn",
}
NAMES = {name.rpartition(".")[2]: type for type, name in NUMPY.items()} | {"bool": "u8"}


def numpy_dtype(type):
    """Returns the NumPy dtype for a type's name ("bf16")."""
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
    """Returns the name in the text form ("bf16") of a dtype of NumPy, ml_dtypes, PyTorch or JAX, or of a dtype's
    name."""
    if isinstance(dtype, str) and dtype in NUMPY:
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        text = text[len("torch."):]
    elif text not in NAMES:
        text = numpy.dtype(dtype).name
    if text not in NAMES:
        raise Error(f"'{dtype}' is not a type that Quern supports", 3)
    return NAMES[text]


def aligned(shape, dtype):
    """Returns a NumPy array that starts at a multiple of 64 bytes, which JAX uses without a copy."""
    count = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    memory = numpy.empty(count + 64, numpy.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + count].view(dtype).reshape(shape)


def torch_dtype(type):
    """Returns the PyTorch type for a type's name ("bf16")."""
    import torch
    return getattr(torch, NUMPY[type].rpartition(".")[2])


def numpy_empty(type, dims):
    """Returns an uninitialized NumPy array."""
    return numpy.empty(dims, numpy_dtype(type))


def torch_empty(type, dims):
    """Returns an uninitialized PyTorch tensor."""
    import torch
    return torch.empty(dims, dtype=torch_dtype(type))


def zeros(like, type, dims):
    """Returns zeros with a type's name and dims, in the framework of the array `like`."""
    framework = like.__class__.__module__.partition(".")[0]
    if framework == "torch":
        import torch
        return torch.zeros(dims, dtype=torch_dtype(type))
    if framework in ("jax", "jaxlib"):
        return deliver(numpy.zeros(dims, numpy_dtype(type)))
    return numpy.zeros(dims, numpy_dtype(type))


def deliver(array):
    """Returns a NumPy array as a JAX array."""
    import jax.numpy
    return jax.numpy.asarray(array)
