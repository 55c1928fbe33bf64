# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the functions of modules with their naive lowering, on guarded memory.

  check_functions.py [--quern=PROGRAM] [--isa=all] [--engine=gpu] [--jobs=N] FILE.mlir…

The sizes of a function with open sizes are in the comment before it: `// sizes: 7,33 1,64`, one run for each list.
Functions that no recipe of a device supports are counted separately.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

LEVELS = ["sse42", "avx2", "avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_fp16", "avx512_core_amx"]


def functions_of(path):
    """Yields (name, sizes) of each function of a file; sizes are "" if none are open."""
    sizes = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if found := re.match(r"// sizes: (.*)", line):
                sizes = found.group(1).split()
            elif found := re.match(r"func\.func @(\w+)", line):
                for one in sizes or [""]:
                    yield found.group(1), one
                sizes = []


def levels_of(program):
    """Returns the instruction sets of this machine, the widest last."""
    shown = subprocess.run([program, "devices"], capture_output=True, text=True, check=True).stdout
    widest = max((i for i, level in enumerate(LEVELS) if re.search(rf"\b{level}\b", shown)), default=0)
    return LEVELS[: widest + 1]


def check(program, path, named, sizes, level, engine):
    """Runs functions of one file in one process. Returns the failures and the number that a device refused."""
    command = [program, "run", "--check", "--repeat=1"]
    command += [f"--mlir={path}:{name}" for name in named]
    command += [f"--sizes={sizes}"] if sizes else []
    command += [f"--engine={engine}"] if engine != "cpu" else []
    environment = dict(os.environ, QUERN_MAX_CPU_ISA=level) if level else dict(os.environ)
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if ran.returncode == 0:
        return [], 0
    if len(named) == 1:
        if engine == "gpu" and ran.returncode == 3:
            return [], 1
        return [f"{level} {' '.join(command)}: exit {ran.returncode}\n{ran.stderr[-2000:]}"], 0
    failures, refused = [], 0  # one process per function
    for name in named:
        failed, apart = check(program, path, [name], sizes, level, engine)
        failures += failed
        refused += apart
    return failures, refused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quern", default="quern")
    parser.add_argument("--isa", default="")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    levels = levels_of(given.quern) if given.isa == "all" else [given.isa]
    calls = []
    for level in levels:
        for path in given.files:
            all_of = list(functions_of(path))
            closed = [name for name, sizes in all_of if not sizes]
            calls += [(path, closed, "", level)] if closed else []
            calls += [(path, [name], sizes, level) for name, sizes in all_of if sizes]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda c: check(given.quern, *c, given.engine), calls))
    failures = [failure for failed, _ in results for failure in failed]
    refused = sum(apart for _, apart in results)
    for failure in failures:
        print(failure)
    count = sum(len(named) for _, named, _, _ in calls)
    print(f"apart: {refused}")
    print(f"{count - len(failures) - refused} passed, {len(failures)} failed")
    sys.exit(1 if failures or count == 0 else 0)


if __name__ == "__main__":
    main()
