#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the sources of the release, and Quern's headers in them, with .clang-tidy; also those of the Python package if
# test/Python/run.sh has built it.
#
#   tools/tidy.sh [FILE…]             these files, or all
#   tools/tidy.sh --changed=N         files that the last N commits of sources changed, the latest first, after
#                                     uncommitted changes
#   tools/tidy.sh --part=K --parts=N  every N-th file, from the K-th on; K is taken modulo N
#   --count=N                         at most N files
#
# A header stands for the source of the same name. A finding is printed once, however many sources include its location;
# the last line is "N passed, N failed", of sources. build/tidy is configured for it.
set -euo pipefail
cd "$(dirname "$0")/.."

files=()
isAll=1 part=1 parts=1 count=
for option in "$@"; do
  case "$option" in
    --changed=*)
      isAll=''
      mapfile -t -O ${#files[@]} files < <(
        git diff --name-only HEAD
        git log -n "${option#*=}" --name-only --format= -- {lib,runtime,tools,test}/'*.'{cpp,h}
      )
      ;;
    --part=*) part=${option#*=} ;;
    --parts=*) parts=${option#*=} ;;
    --count=*) count=${option#*=} ;;
    -*)
      echo "usage: tools/tidy.sh [--changed=N|FILE…] [--part=K --parts=N] [--count=N]" >&2
      exit 2
      ;;
    *)
      isAll=''
      files+=("$option")
      ;;
  esac
done

# The compile commands of a build with separate units and without precompiled headers, in which only generated headers
# are built.
# Sources without a command, such as programs that lit compiles, are not checked.
mkdir -p build
{
  cmake --preset release -B build/tidy -DQUERN_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON &&
    cmake --build build/tidy --target quern_dialect
} > build/tidy.log 2>&1 || { cat build/tidy.log >&2; exit 1; }
commands=build/tidy/compile_commands.json
# The latest build of the package. A build for a wheel contains the whole tree and is not used.
packages=$(find build/python -maxdepth 2 -path '*/cp*/compile_commands.json' -printf '%T@ %h\n' 2> /dev/null |
  sort -n | tail -1 | cut -d ' ' -f 2- || true)
mapfile -t compiled < <(
  sed -n "s:^ *\"file\"\: \"$PWD/\(\(lib\|runtime\|tools\|test\)/.*\.cpp\)\".*:\1:p" $commands \
    ${packages:+"$packages/compile_commands.json"} | LC_ALL=C sort -u)
declare -A isLeft
for file in "${compiled[@]}"; do
  isLeft[$file]=1
done
[ -z "$isAll" ] || files=("${compiled[@]}")
sources=()
for file in "${files[@]}"; do
  file=${file%.h}
  file=${file%.cpp}.cpp
  [ -z "${isLeft[$file]-}" ] || sources+=("$file")
  isLeft[$file]=
done
chosen=()
for ((i = (part - 1) % parts; i < ${#sources[@]}; i += parts)); do
  chosen+=("${sources[i]}")
done
chosen=("${chosen[@]:0:${count:-${#chosen[@]}}}")

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# check FILE: writes findings to a separate log, and prints a line if there are any.
check() {
  case "$1" in
    runtime/Python/*) commands=$packages ;;
    *) commands=build/tidy ;;
  esac
  clang-tidy-22 --quiet -p "$commands" "$1" > "$logs/${1//\//-}" 2>&1 || echo "$1"
}
export -f check
export logs packages
failed=$(echo "${chosen[@]}" | xargs -r -n 1 -P "$(nproc)" bash -c 'check "$1"' check | wc -l)
# A finding extends from the line with its location to the next such line.
[ "$failed" = 0 ] || awk -v root="$PWD/" '
  /^[0-9]+ warnings? (generated|treated as errors?)/ || /^\[[0-9]+\/[0-9]+\] .*Processing file/ { next }
  FNR == 1 { isNew = 1 }
  index($0, root) == 1 { $0 = substr($0, length(root) + 1) }
  /:[0-9]+:[0-9]+: (warning|error): / { isNew = !seen[$0]++ }
  isNew' "$logs"/*
echo "$((${#chosen[@]} - failed)) passed, $failed failed"
[ "$failed" = 0 ]
