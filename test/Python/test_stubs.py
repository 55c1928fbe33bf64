# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the type stubs have the same names, parameters and defaults as the modules."""

import ast
import importlib
import inspect
import os

import pytest

import quern


def parameters_of(function):
    """Returns [(name, kind, default)] of a function in a stub or module; a default "..." matches any."""
    if isinstance(function, ast.FunctionDef):
        given = function.args
        plain = [*given.posonlyargs, *given.args]
        found = [(a.arg, "plain", None if d is None else ast.unparse(d))
                 for a, d in zip(plain, [None] * (len(plain) - len(given.defaults)) + given.defaults)]
        found += [(given.vararg.arg, "args", None)] if given.vararg else []
        found += [(a.arg, "named", None if d is None else ast.unparse(d))
                  for a, d in zip(given.kwonlyargs, given.kw_defaults)]
        return found + ([(given.kwarg.arg, "kwargs", None)] if given.kwarg else [])
    kinds = {inspect.Parameter.VAR_POSITIONAL: "args", inspect.Parameter.KEYWORD_ONLY: "named",
             inspect.Parameter.VAR_KEYWORD: "kwargs"}
    return [(p.name, kinds.get(p.kind, "plain"), None if p.default is p.empty else repr(p.default))
            for p in inspect.signature(function).parameters.values()]


def compare(stub, function, where):
    theirs, own = parameters_of(stub), parameters_of(function)
    assert [p[:2] for p in theirs] == [p[:2] for p in own], where
    for (name, _, in_stub), (_, _, real) in zip(theirs, own):
        assert in_stub == "..." or in_stub == (real and real.replace('"', "'")) or \
            (in_stub or "").replace('"', "'") == (real or ""), (where, name, in_stub, real)


@pytest.mark.parametrize("name", ["", "problem", "cache", "packs", "jax", "torch"])
def test_stubs(name, request):
    if name in ("jax", "torch") and request.config.getoption("--framework") != name:
        pytest.skip(f"needs {name}")
    module = importlib.import_module("quern" + ("." + name if name else ""))
    path = os.path.join(os.path.dirname(quern.__file__), (name or "__init__") + ".pyi")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            compare(node, getattr(module, node.name), node.name)
            found.add(node.name)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found.add(node.name)
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.decorator_list:
                    compare(method, getattr(getattr(module, node.name), method.name), f"{node.name}.{method.name}")
    missing = set(getattr(module, "__all__", ())) - found - {"Problem", "cache", "packs"}
    assert not missing
