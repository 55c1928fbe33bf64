#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Formats the sources according to .clang-format, except public headers, which are formatted by hand.
#
#   tools/format.sh [FILE…]           formats these files, or all
#   tools/format.sh --check [FILE…]   lists files that are not formatted; the last line is "N passed, N failed"
#
# The version is the one that tools/deps.sh installs; other versions break lines differently.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
if [ "${1-}" = --check ]; then
  check=1
  shift
fi
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find docs/examples include lib runtime tools test \
    -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.c')
fi
if [ -z "$check" ]; then
  printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" clang-format-22 -i
  exit
fi
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" clang-format-22 --dry-run 2>&1 |
  sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: warning: code should be clang-formatted.*/\1/p' | sort -u)
count=0
if [ -n "$wrong" ]; then
  echo "$wrong"
  count=$(wc -l <<< "$wrong")
fi
echo "$((${#files[@]} - count)) passed, $count failed"
[ "$count" = 0 ]
