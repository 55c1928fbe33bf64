#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs recipes with each field of their strategies at its least value, below it and far beyond.

  strategies.py QUERN_OPT PASS DEF TARGET FILE…

A strategy may make a kernel slow but never wrong: each value is refused in one line, or `--check` finds no difference
from the naive loops. DEF is the recipe's Strategy.def, each FILE is a problem. For a device target, where nothing can
be run, the passes only have to terminate. The values that a target itself provides must be accepted. The last line is
"N asked, N refused, N wrong"; the exit status is 1 if any was wrong.
"""

import re
import subprocess
import sys

FIELD = re.compile(r"^QUERN_FIELD\(([\w:<>]+), (\w+), .+?, (\d+),\s", re.MULTILINE)


def optionOf(field):
    return re.sub("[A-Z]", lambda capital: "-" + capital.group().lower(), field)


def valuesOf(kind, least):
    if kind == "bool":
        return ["0", "1"]
    if "SmallVector" in kind:
        return ["1", "3", "16,32,64,128", "0"]
    return [least, str(int(least) - 1), str(1 << 40)]


class Recipe:
    """A pass, the problems that it is run on, and the results."""

    def __init__(self, program, name, target, files):
        self.program, self.name, self.target, self.files = program, name, target, files
        self.asked = self.refused = self.wrong = 0

    def run(self, option, mayRefuse):
        mode = [] if self.target.startswith("spirv") else ["--check", "--allow-empty"]
        for path in self.files:
            recipe = f"--{self.name}=target={self.target} {option}"
            command = [self.program, path, recipe, "--target=" + self.target] + mode
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            self.asked += 1
            if run.returncode == 0:
                continue
            if mayRefuse and run.returncode == 1 and self.name in run.stderr and len(run.stderr.splitlines()) == 1:
                self.refused += 1
                continue
            self.wrong += 1
            print(f"{' '.join(command)}: status {run.returncode}\n{run.stdout[:400]}{run.stderr[:400]}")


def main():
    program, name, definition, target, *files = sys.argv[1:]
    recipe = Recipe(program, name, target, files)
    recipe.run("", mayRefuse=False)
    with open(definition, encoding="utf-8") as text:
        for kind, field, least in FIELD.findall(text.read()):
            for value in valuesOf(kind, least):
                recipe.run(f"{optionOf(field)}={value}", mayRefuse=True)
    print(f"{recipe.asked} asked, {recipe.refused} refused, {recipe.wrong} wrong")
    return 1 if recipe.wrong or recipe.asked == len(files) else 0


if __name__ == "__main__":
    sys.exit(main())
