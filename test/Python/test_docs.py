# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the examples of the docs and of docstrings print the results that are shown there."""

import doctest
import importlib.util
import os
import re

import numpy
import pytest

import quern

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def run(text, name, names):
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    failures, count = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert failures == 0 and count > 0


@pytest.mark.parametrize("page", ["python", "jax", "pytorch"])
def test_pages(page, request):
    needs = {"python": None, "jax": "jax", "pytorch": "torch"}[page]
    if needs and request.config.getoption("--framework") != needs:
        pytest.skip(f"needs {needs}")
    with open(os.path.join(DOCS, page + ".md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```pycon\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    if not importlib.util.find_spec("flax"):
        blocks = [block for block in blocks if "import flax" not in block]
    run("\n".join(blocks), page, {})


@pytest.mark.parametrize("thing", [quern.softmax, quern.Problem], ids=lambda thing: thing.__name__)
def test_docstrings(thing):
    run(thing.__doc__, thing.__name__, {"quern": quern, "numpy": numpy})
