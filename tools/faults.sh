#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs Quern in hostile environments: the checks of test/faults on a built tree.
#
#   tools/faults.sh              the short form, which CI runs: less than 90 seconds of CPU
#   tools/faults.sh --full       the number of runs that the source of each check states
#
#   --only=TEXT   Only checks whose name or source contains TEXT
#   --count=N     Number of runs of each check
#   --most=N      Maximum number of runs of a check
#   --build=DIR   Build to test (default: build/release)
#   --jobs=N      Number of concurrent checks (default: the number of cores)
#   --list        Prints the checks without running them
#
# Prints one line for each check, and for a failure the command that repeats it. The last line is "N passed, N failed, N
# skipped"; the exit status is 1 if any run failed. test/faults/run.py describes how to add a check.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/../test/faults/run.py" "$@"
