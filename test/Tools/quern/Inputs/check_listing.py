# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the instructions in a trace with LLVM's tools: addresses with llvm-objdump, the cycles of loops with
llvm-mca.

  check_listing.py LLVM_BIN TARGET LINE…
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TURNS = 400  # iterations of llvm-mca, whose cycles include filling the queues
SLACK = 0.05


def output(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def placesOf(tools, line, target):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.o")
        output(["quern", "compile", line, "--target=" + target, "--emit=obj", "-o", path])
        text = output([os.path.join(tools, "llvm-objdump"), "-d", "--no-show-raw-insn", path])
    found = re.findall(r"^\s+([0-9a-f]+):\s+(\S+)", text, re.MULTILINE)
    return [(int(place, 16), name) for place, name in found if not name.startswith("nop")]


def cyclesOf(tools, code, machine):
    command = [os.path.join(tools, "llvm-mca"), "-mtriple=x86_64", "-mcpu=" + machine, f"-iterations={TURNS}", "-"]
    return int(re.search(r"Total Cycles:\s+(\d+)", output(command, input=code))[1]) / TURNS


def check(tools, line, target):
    assembly = json.loads(output(["quern", "dump", line, "--target=" + target, "--json"]))["stages"][-1]
    lines = assembly["text"].split("\n")
    listed = [(at, text.split()[0]) for at, text in zip(assembly["offsets"], lines) if at >= 0]
    if listed != placesOf(tools, line, target):
        raise ValueError("the addresses of instructions differ")
    loops = 0
    for loop in assembly["innermost"]:
        code = "\n".join(lines[loop["first"] - 1 : loop["last"]]).replace(".LCPI", "LCPI")
        loops += 1
        for estimate in loop["estimates"]:
            cycles = cyclesOf(tools, code, estimate["machine"])
            if abs(cycles - estimate["cycles"]) > SLACK * cycles + 0.1:
                raise ValueError(f"{estimate['cycles']} cycles on {estimate['machine']}, llvm-mca has {cycles}")
    return loops


def main():
    tools, target, *problems = sys.argv[1:]
    for line in problems:
        print(check(tools, line, target), "loops as llvm-mca has them:", line)


if __name__ == "__main__":
    main()
