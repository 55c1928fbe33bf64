# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs: files of kernels that ship with a program (docs/packs.md)."""

import os
import tempfile

from quern import _command, _quern


def add(path):
    """Looks for kernels in a pack from now on. quern.Error: it cannot be read, is damaged or of another build."""
    _quern.add_pack(os.fspath(path))


def build(problems, path, *, targets=("native",), families=False):
    """Compiles problems, lines or quern.Problem, into a pack, with `quern pack build`.

    Args:
        problems: what is compiled.
        path: the file, which is made or added to.
        targets: instruction sets ("avx2"), or "native".
        families: a kernel of open sizes for each kind of problem, in place of one for each problem.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".desc") as lines:
        lines.writelines(getattr(problem, "text", problem) + "\n" for problem in problems)
        lines.flush()
        _command.run(["pack", "build", *(["--families"] if families else []), lines.name, "-o", os.fspath(path),
                      *("--target=" + target for target in targets)])


def listing(path):
    """What is in a pack, as `quern pack list` prints it."""
    return _command.run(["pack", "list", os.fspath(path)])
