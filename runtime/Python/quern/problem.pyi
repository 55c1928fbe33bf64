# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from collections.abc import Iterable
from typing import Any, NamedTuple

class Argument(NamedTuple):
    name: str
    index: int
    is_output: bool
    type: str
    dims: tuple[int, ...]
    layout: str

class Timing(NamedTuple):
    minimum: float
    median: float
    runs: int

class Check(NamedTuple):
    ok: bool
    worst: float | None
    threshold: float
    max_abs_error: float
    text: str

class Dump(str): ...

class Problem:
    def __init__(self, line: str) -> None: ...
    @classmethod
    def from_mlir(cls, module: str | bytes, function: str | None = None, *, naive: bool = False) -> Problem: ...
    @property
    def text(self) -> str: ...
    @property
    def primitive(self) -> str: ...
    @property
    def kernel(self) -> Any: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def arguments(self) -> list[Argument]: ...
    def explain(self, target: str | None = None) -> str: ...
    def dump(self, stage: str = "schedule", target: str | None = None) -> Dump: ...
    def compile(self, target: str | None = None, form: str = "artifact") -> bytes: ...
    def run(self, *arrays: Any, **named: Any) -> Any: ...
    def time(self, *arrays: Any, repeat: int = 100, **named: Any) -> Timing: ...
    def check(self, *, data: str = "dense", seed: int = 1, sizes: Iterable[int] | None = None) -> Check: ...
