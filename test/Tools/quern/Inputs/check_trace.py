# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the code of traced problems with code that is compiled without a trace, and counts explained instructions.

At least 95 in 100 instructions inside loops come from a line of the schedule that comes from a line of emit.

  check_trace.py [--target=TARGET] [--every=N] FILE.desc…     every N-th problem of the files
"""

import argparse
import json
import re
import subprocess
import sys

LEAST = 0.95


def compiled(line, target, form):
    command = ["quern", "compile", line, "--emit=" + form, "--target=" + target]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def isInstruction(line):
    return line.startswith("\t") and not line.lstrip().startswith((".", "#"))


def linesInLoops(lines):
    """Returns the lines between a label and a jump back to it."""
    places = {match[1]: at for at, line in enumerate(lines) if (match := re.match(r"(\.L\w+):", line))}
    inside = set()
    for at, line in enumerate(lines):
        jump = re.match(r"\tj\w+\s+(\.L\w+)$", line)
        if jump and places.get(jump[1], at) < at:
            inside.update(range(places[jump[1]], at + 1))
    return [at for at in sorted(inside) if isInstruction(lines[at])]


def check(line, target):
    """Returns the number of instructions inside loops and how many are explained. Raises if the trace is wrong."""
    trace = json.loads(compiled(line, target, "trace"))
    stages = {stage["name"]: stage for stage in trace["stages"]}
    assembly, schedule = stages["assembly"], stages["schedule"]
    if assembly["text"].rstrip() != compiled(line, target, "asm").rstrip():
        raise ValueError("the code differs from the code without a trace")
    for name in ("emit", "schedule"):
        if stages[name]["text"].rstrip() != compiled(line, target, name).rstrip():
            raise ValueError("a different text of " + name)
    for stage in stages.values():
        lines = stage["text"].rstrip("\n").split("\n")
        limit = len(stages[stage["of"]]["text"].split("\n")) if "of" in stage else 0
        if "of" in stage and len(stage["origins"]) != len(lines):
            raise ValueError(f"{len(stage['origins'])} origins of {len(lines)} lines of {stage['name']}")
        if any(not 1 <= origin <= limit for origins in stage.get("origins", []) for origin in origins):
            raise ValueError("a line of " + stage["name"] + " comes from a line that does not exist")
    inside = linesInLoops(assembly["text"].rstrip("\n").split("\n"))
    emitted = stages["emit"]["text"].split("\n")

    def isOperation(line):  # an operation, not only the function
        return "func.func" not in emitted[line - 1]

    def origins(at):
        return [origin for line in assembly["origins"][at] for origin in schedule["origins"][line - 1]]

    explained = [at for at in inside if any(isOperation(origin) for origin in origins(at))]
    return len(inside), len(explained)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="avx512_core")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    problems = []
    for name in options.files:
        with open(name, encoding="utf-8") as file:
            problems += [line.strip() for line in file if line.strip() and not line.startswith("#")]
    inside, explained, wrong = 0, 0, 0
    for problem in problems[:: options.every]:
        try:
            instructions, known = check(problem, options.target)
        except (ValueError, TypeError) as error:
            print("FAILED:", error, "of", problem)
            wrong += 1
            continue
        inside, explained = inside + instructions, explained + known
        if known < LEAST * instructions:
            print(f"few: {known} of {instructions} instructions in loops of {problem}")
    print(f"{len(problems[::options.every])} problems, {explained} of {inside} instructions in loops explained")
    sys.exit(1 if wrong or explained < LEAST * inside else 0)


if __name__ == "__main__":
    main()
