#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that quern-fuzz reports each kind of fault, continues after it, and prints the command that repeats it."""
# FAULTS: planted-faults limit=120:

import os
import re
import subprocess
import sys

FUZZ = os.path.join(os.environ["QUERN_BUILD"], "bin", "tests", "quern-fuzz")
REPORTS = {"read": "it ended the process: Segmentation fault", "result": "results differ|largest error|expected",
           "hang": "it took more than 2 s", "exit": "it exited with status 3"}


def fuzz(*options):
    return subprocess.run([FUZZ, "text", "--limit=2", *options], capture_output=True, text=True, check=False)


def check(plant, report):
    """Returns the failure of a fault that was planted, or an empty string."""
    done = fuzz("--count=32", f"--plant={plant}")
    last = re.search(r"(\d+) inputs(?s:.*)\n(\d+) passed, (\d+) failed\n$", done.stdout)
    command = re.search(r"--seed=\d+ --first=\d+ --count=1", done.stdout)
    if done.returncode != 1 or not last or last[1] != "32" or last[3] == "0" or not command:
        return "unexpected exit status or summary"
    if not re.search(f"FAILED: .*({report})", done.stdout):
        return "unexpected report"
    again = fuzz(*command[0].split(), f"--plant={plant}")
    return "" if again.returncode == 1 and "1 failed" in again.stdout else "the command does not repeat the failure"


def main():
    failed = 0
    for plant, report in REPORTS.items():
        wrong = check(plant, report)
        if wrong:
            failed += 1
            print(f"FAILED: {plant}: {wrong}\n{fuzz('--count=32', f'--plant={plant}').stdout[-2000:]}")
    print(f"{len(REPORTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
