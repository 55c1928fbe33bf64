# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options and fixtures for pytest, and the last lines of the output, whose counts tools/test.sh adds up."""

import os
import sys

import numpy
import pytest

sys.path.insert(0, os.path.dirname(__file__))


def pytest_addoption(parser):
    parser.addoption("--framework", default="none", help="jax, torch or none: whose tests run besides")


def pytest_ignore_collect(collection_path, config):
    for framework in ("jax", "torch"):
        if collection_path.name.startswith(f"test_{framework}") and config.getoption("--framework") != framework:
            return True
    return None


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not hasattr(reporter, "stats"):
        return
    count = {word: len(reporter.stats.get(word, [])) for word in ("passed", "failed", "error", "skipped", "xfailed")}
    print(f"\napart: {count['skipped'] + count['xfailed']}")
    print(f"{count['passed']} passed, {count['failed'] + count['error']} failed")


@pytest.fixture
def draw():
    """A random number generator with the same seed in every test."""
    return numpy.random.default_rng(20261125)
