#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures everything with every peer and writes the tables into docs/performance-tables.md, after its line "<!--
# measured -->", and the pictures at the start of docs/performance.md. Takes about an hour, during which nothing else
# should run on the machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools/peers.sh --all
cmake --preset release > /dev/null
cmake --build --preset release --target quern-bench quern_compiler > /dev/null
bench=build/release/bin/quern-bench

measured=$(mktemp)
trap 'rm -f "$measured" "$measured.desc"' EXIT
# The named problems are those before the first blank line that follows a problem.
named=$(awk '/^reorder/ { seen = 1 } seen && /^$/ { print NR; exit }' test/problems/reorder-bench.desc)
{
  sed '/<!-- measured -->/q' docs/performance-tables.md
  echo
  echo "## Overheads"
  echo
  $bench --overheads --plot=docs/pictures/ladder.svg
  echo
  echo "## Calls"
  echo
  echo "\`build/release/bin/quern-bench --calls\`"
  echo
  $bench --calls --peers=onednn-3.2
  echo
  echo "## Softmax"
  echo
  $bench --problems=test/problems/softmax-bench.desc --threads=1,2 --peers=onednn-3.13,onednn-3.2,onnxruntime,jax
  echo
  echo "## Reorder"
  echo
  $bench --problems=test/problems/reorder-bench.desc --threads=1,2 --peers=onednn-3.13,onednn-3.2,onnxruntime,jax
  echo
  echo "## RNN"
  echo
  $bench --problems=test/problems/rnn-bench.desc --threads=1,2 --peers=onednn-3.13,onednn-3.2
  echo
  echo "## Functions in MLIR"
  echo
  $bench --problems=test/problems/functions-bench.desc --threads=1,2 --peers=primitive,onednn-3.13,torch,jax,iree
  echo
  echo "## Softmax and reorder on a device"
  echo
  $bench --engine=gpu --problems=test/problems/softmax-bench.desc,test/problems/reorder-bench.desc
  echo
  echo "## Reorder, the named problems against torch.compile and IREE"
  echo
  head -n "$named" test/problems/reorder-bench.desc > "$measured.desc"
  $bench --problems="$measured.desc" --peers=onednn-3.13,onednn-3.2,onnxruntime,torch,iree
} > "$measured"
cp "$measured" docs/performance-tables.md
tools/plots/ratios.py docs/performance-tables.md docs/pictures/ratios.svg
# The roofline has the problems of all sets.
$bench --problems="$(echo test/problems/{softmax,reorder,eltwise,binary,sources,rnn}-bench.desc | tr ' ' ,)" \
  --peers=onednn-3.13 --plot-roofline=docs/pictures/roofline.svg > /dev/null
