# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments before they reach the C interface. Each message has the name of the argument and its value."""

import math
import operator

import numpy

from quern import _quern
from quern._frameworks import NUMPY, numpy_dtype

INTEGERS = {"s32": numpy.int32, "s8": numpy.int8, "u8": numpy.uint8}
NUMBERS = (int, float, numpy.generic)  # ml_dtypes derives its scalars from numpy.generic


def arrays(names, tensors):
    """Fails if one of the required arrays is None."""
    for name, tensor in zip(names, tensors):
        if tensor is None:
            raise TypeError(f"{name} is None; it must be an array")


def index(name, value):
    """Returns the argument as an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be an integer") from None


def indices(name, values):
    """Returns the argument as a tuple of ints."""
    return tuple(index(f"an element of {name}", value) for value in items(name, values))


def number(name, value):
    """Returns the argument as a float."""
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} is {value!r}; it must be a number")


def items(name, values):
    """Returns the argument as a tuple."""
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}; it must be a sequence") from None


def results(out, count):
    """Returns `out`; fails unless it is a tuple of `count` elements."""
    if len(items("out", out)) != count:
        raise TypeError(f"out has {len(out)} elements; it must have {count}, each an array or None")
    return out


def text(name, value):
    """Returns the argument; fails unless it is a str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a str")
    return value


def element(name, value, other):
    """Returns a number as an array without dims, of the type of the array `other`, if that is an array.

    The number is converted like a Python scalar in NumPy: an integer type accepts whole numbers within its range, and
    a float type rounds.
    """
    if other is None or isinstance(other, NUMBERS):
        return value
    type = _quern.describe(other).type
    if type not in NUMPY:
        return value  # the primitive rejects the type of the array
    dtype = numpy_dtype(type)
    try:
        if isinstance(value, (numpy.complexfloating, numpy.flexible)):
            raise ValueError
        if type in INTEGERS:
            whole, limits = int(value), numpy.iinfo(dtype)
            fits = whole == value and limits.min <= whole <= limits.max
            made = numpy.array(whole if fits else 0, dtype)
        else:
            with numpy.errstate(over="ignore"):
                made = numpy.asarray(float(value)).astype(dtype)
            fits = math.isfinite(made) or not math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise TypeError(f"{name} is {value!r}; it does not fit {dtype.name}, the type of the other array")
    return made
