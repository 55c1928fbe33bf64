# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs: files of kernels that ship with a program (docs/packs.md)."""

import os
import tempfile

from quern import _command, _quern


def add(path):
    """Adds a pack to the lookup of kernels. Raises quern.Error if it cannot be read, is damaged or of another build."""
    _quern.add_pack(os.fspath(path))


def build(problems, path, *, targets=("native",), families=False):
    """Compiles problems (lines of text or quern.Problem) into a pack, with `quern pack build`.

    Args:
        problems: the problems.
        path: the file, which is created or extended.
        targets: instruction sets ("avx2"), or "native".
        families: compile one kernel with open sizes for each family, in place of one for each problem.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".desc") as lines:
        lines.writelines(getattr(problem, "text", problem) + "\n" for problem in problems)
        lines.flush()
        _command.run(["pack", "build", *(["--families"] if families else []), lines.name, "-o", os.fspath(path),
                      *("--target=" + target for target in targets)])


def listing(path):
    """Returns the contents of a pack, as printed by `quern pack list`."""
    return _command.run(["pack", "list", os.fspath(path)])
