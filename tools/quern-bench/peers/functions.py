# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in MLIR for Python peers: the description next to a module, and its inputs.

A description is a Python function with the name of the module's function. Its first argument is the class of the peer's
operations, from jax_functions.py or torch_functions.py; the module's arguments follow in order.
"""

import importlib.util

import driver


def describe(problem, operations):
    """Returns the peer's function for a problem."""
    spec = importlib.util.spec_from_file_location("description", problem.parameters["description"])
    description = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(description)
    function = getattr(description, problem.parameters["function"])
    return lambda *inputs: function(operations, *inputs)


def inputsOf(problem):
    """Returns the type and the values of each input."""
    tensors = [problem.tensors[name] for name in problem.parameters["inputs"]]
    if not all(tensor["dense"] for tensor in tensors):
        raise ValueError("dense row-major tensors only")
    return [(tensor["type"], driver.normalValues(tensor["dims"])) for tensor in tensors]
