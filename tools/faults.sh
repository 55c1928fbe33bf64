#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs Quern in hostile surroundings: the checks of test/faults on a built tree.
#
#   tools/faults.sh              the short form, which CI runs: less than 90 seconds of CPU
#   tools/faults.sh --full       as many runs of each check as its source states
#
#   --only=TEXT   Only checks whose name or source contains TEXT
#   --count=N     Runs of each check
#   --most=N      Most runs of a check
#   --build=DIR   The build to test (default: build/release)
#   --jobs=N      Checks at a time (default: the number of cores)
#   --list        Prints the checks and runs none
#
# Prints one line for each check, and for a failure the command that repeats it. The last line is
# "N passed, N failed, N skipped"; the exit status is 1 if any run failed. test/faults/run.py says how a check is added.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/../test/faults/run.py" "$@"
