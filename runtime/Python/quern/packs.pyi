# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from collections.abc import Iterable
from os import PathLike

from quern.problem import Problem

def add(path: str | PathLike[str]) -> None: ...
def build(
    problems: Iterable[str | Problem], path: str | PathLike[str], *, targets: Iterable[str] = ...,
    families: bool = False
) -> None: ...
def listing(path: str | PathLike[str]) -> str: ...
