#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures everything with every peer and writes the tables into docs/performance.md, after its line "<!-- measured -->". Takes about half
# an hour; nothing else should run on the machine meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools/peers.sh --all
cmake --preset release > /dev/null
cmake --build --preset release --target quern-bench quern_compiler > /dev/null
bench=build/release/bin/quern-bench

measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
{
  sed '/<!-- measured -->/q' docs/performance.md
  echo
  echo "## Overheads"
  echo
  $bench --overheads
  echo
  echo "## Softmax"
  echo
  $bench --threads=1,2 --peers=onednn-3.13,onednn-3.2,onnxruntime,jax
} > "$measured"
cp "$measured" docs/performance.md
