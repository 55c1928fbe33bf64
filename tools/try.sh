#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the packages that building needs, builds the programs of README.md, and runs softmax, reorders, a product of
# matrices and an LSTM of the sizes of real models. For each, prints the descriptor, the origin of the kernel, the times
# to compile and run it, GB/s or GFLOP/s, and the largest error against the double-precision reference. In a second run
# every kernel comes from the disk cache (`build/release/bin/quern cache clear` empties it).
set -euo pipefail
cd "$(dirname "$0")/.."

tools/deps.sh --build

log=build/release/build.log
mkdir -p build/release
# Without earlier results, a unity build takes less time.
fromNothing=()
[ -e build/release/CMakeCache.txt ] || fromNothing=(-DQUERN_UNITY=ALL)
echo "building (build/release; the first time takes about ten minutes)"
if ! {
  cmake --preset release "${fromNothing[@]}" &&
    cmake --build --preset release --target quern_tool quern_compiler quern-opt
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

echo
echo "Next, look at a kernel:"
echo "  export PATH=\"$PWD/build/release/bin:\$PATH\""
echo "  quern dump 'softmax fwd_i src=f32:4x5:ab dst=f32:4x5:ab axis=1' --stage=emit"
