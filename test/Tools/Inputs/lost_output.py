# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: lost_output.py STATUS MESSAGE -- COMMAND... -- COMMAND...

Runs each command with its standard output on a pipe, on /dev/full and closed. The first must succeed and print
something; the others must exit with STATUS and print MESSAGE on standard error.
"""

import itertools
import subprocess
import sys

status, message = int(sys.argv[1]), sys.argv[2]
words = itertools.groupby(sys.argv[3:], lambda word: word == "--")
failed = 0
for command in [list(group) for isSeparator, group in words if not isSeparator]:
    whole = subprocess.run(command, capture_output=True, text=True, check=False)
    if whole.returncode != 0 or not whole.stdout:
        print(f"{command}: status {whole.returncode}, printed {whole.stdout!r}, {whole.stderr!r}")
        failed += 1
    for how in (">/dev/full", ">&-"):
        lost = subprocess.run(["sh", "-c", f'exec "$@" {how}', "sh", *command], stderr=subprocess.PIPE, text=True,
                              check=False)
        if lost.returncode != status or message not in lost.stderr:
            print(f"{command} {how}: status {lost.returncode}, {lost.stderr!r}")
            failed += 1
sys.exit(1 if failed else 0)
