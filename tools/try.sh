#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs missing packages, builds, and runs softmax, reorders and an LSTM of the sizes of real models. For each,
# prints the descriptor, the origin of the kernel, the times to compile and run it, and the largest error against the
# double-precision reference. In a second run every kernel comes from the disk cache (`build/release/bin/quern cache
# clear` empties it).
set -euo pipefail
cd "$(dirname "$0")/.."

tools/deps.sh

log=build/release/build.log
mkdir -p build/release
echo "building (build/release; the first time takes some minutes)"
if ! {
  cmake --preset release && cmake --build --preset release --target quern_tool quern_compiler
} > "$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "tools/try.sh: the build failed; all of its output is in $log" >&2
  exit 1
fi &
build=$!
# Progress is Ninja's own count: its last "[n/m]" is redrawn on one line of a terminal.
while kill -0 "$build" 2> /dev/null; do
  if [ -t 1 ]; then
    printf '\r  %s\033[K' "$(grep -o '^\[[0-9]*/[0-9]*\]' "$log" 2> /dev/null | tail -n 1 || true)"
  fi
  sleep 0.5
done
[ ! -t 1 ] || printf '\r\033[K'
wait "$build"

build/release/bin/quern run -f test/problems/try.desc --check
