# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in MLIR for peers in Python: the description beside a module, and its inputs.

A description is a function of the same name as the module's. It takes the peer's operations first, a class of
jax_functions.py or torch_functions.py, then the module's arguments in order.
"""

import importlib.util

import driver


def describe(problem, operations):
    """The peer's function for a problem."""
    spec = importlib.util.spec_from_file_location("description", problem.parameters["description"])
    description = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(description)
    function = getattr(description, problem.parameters["function"])
    return lambda *inputs: function(operations, *inputs)


def inputsOf(problem):
    """The type and the dims of each input."""
    tensors = [problem.tensors[name] for name in problem.parameters["inputs"]]
    if not all(tensor["dense"] for tensor in tensors):
        raise ValueError("dense row-major tensors only")
    return [(tensor["type"], driver.normalValues(tensor["dims"])) for tensor in tensors]
