# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions as objects that keep their parameters: Softmax(axis=1)(x) is softmax(x, axis=1)."""

from quern import _functions


class _Operation:
    """A function with its parameters."""

    _function = None

    def __init__(self, **parameters):
        self.parameters = parameters

    def __call__(self, *arrays, out=None):
        return type(self)._function(*arrays, **self.parameters, out=out)

    def __repr__(self):
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"quern.{type(self).__name__}({parameters})"


def _of(name, function):
    document = (f"`quern.{function.__name__}` with parameters that are set once: {name}(…)(arrays, out=…).\n\n"
                f"{function.__doc__}")
    return type(name, (_Operation,), {"_function": staticmethod(function), "__doc__": document, "__module__": "quern"})


Softmax = _of("Softmax", _functions.softmax)
LogSoftmax = _of("LogSoftmax", _functions.log_softmax)
Reorder = _of("Reorder", _functions.reorder)
Transpose = _of("Transpose", _functions.transpose)
Eltwise = _of("Eltwise", _functions.eltwise)
Binary = _of("Binary", _functions.binary)
Sum = _of("Sum", _functions.sum)
Concat = _of("Concat", _functions.concat)
Matmul = _of("Matmul", _functions.matmul)

__all__ = ["Softmax", "LogSoftmax", "Reorder", "Transpose", "Eltwise", "Binary", "Sum", "Concat", "Matmul"]
