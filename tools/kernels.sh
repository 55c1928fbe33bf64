#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows which kernels a change of the compiler changes, and the cost of compilation. No kernel is run.
#
#   tools/kernels.sh digest FILE [OPTION…]        digests of code, plan and launch of some 40,000 kernels: all of
#                                                 test/problems and 400 random problems of each primitive, on all
#                                                 CPU levels and four devices
#   tools/kernels.sh instructions FILE [OPTION…]  instructions to compile 30 random problems of each primitive
#   tools/kernels.sh compare OLD NEW [OPTION…]    differences between two files of the same kind; the exit status is 1
#                                                 if kernels differ, or if a cost has grown by more than one per cent
#
#   --build=DIR           before the other options: uses the programs of this build; otherwise build/release is built
#   --count=20 --seed=2   number of random problems of each primitive for each target
#   --targets T…          targets in the form of `quern compile`
#   --cases=softmax,sum   only these sets of cases
#   --problems FILE…      instead of test/problems (digest), or of random problems (instructions)
#   --again FILE          the problems and targets of an earlier file (digest)
#   --jobs=N              number of processes; default: the number of cores (digest, instructions)
#
# build/release/bin/tests/quern-kernels COMMAND --help has all options.
set -euo pipefail

usage() {
  sed -n '/^#   /s/^#   //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=
if [[ ${1-} = --build=* ]]; then
  build=$(realpath "${1#--build=}")
  shift
fi
[ $# -ge 2 ] && [[ $2 != -* ]] || usage
command=$1 file=$2
shift 2

# The caller's settings must not affect the compiler.
for variable in $(compgen -e QUERN_ || true); do
  unset "$variable"
done
export QUERN_CACHE_DIR=off

if [ -z "$build" ]; then
  build=$root/build/release
  mkdir -p "$root/build"
  if ! (cd "$root" && cmake --preset release &&
    cmake --build --preset release --target quern-kernels quern_compiler) > "$build.log" 2>&1; then
    tail -n 40 "$build.log" >&2
    echo "tools/kernels.sh: the build failed; all of its output is in $build.log" >&2
    exit 1
  fi
fi
program=$build/bin/tests/quern-kernels

# Valgrind counts every instruction between entry and exit of one function; each set of cases has its own process.
countByValgrind() { # SET|FILE OPTION…
  local set=$1 what output collected
  shift
  what=(--cases="$set")
  if [ -f "$set" ]; then
    what=(--problems "$set")
    set=$(basename "${set%.*}")
  fi
  output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
    --toggle-collect=quern_kernels_measured "$program" cost --counter=outside "${what[@]}" "$@" 2>&1)
  collected=$(sed -n 's/.*Collected : //p' <<< "$output")
  if [ -z "$collected" ]; then
    tail -n 5 <<< "$output" >&2
    return 1
  fi
  echo "instructions $set $collected"
}

# Uses the CPU's counter, or else Valgrind, or else time.
instructions() {
  local sets=() files=() jobs rest=() whole messages status=0 ofProblems=
  jobs=$(nproc)
  for option in "$@"; do
    [[ $option != -* ]] || ofProblems=
    case $option in
      --problems) ofProblems=1 ;;
      --jobs=*) jobs=${option#--jobs=} ;;
      --cases=*) IFS=, read -ra sets <<< "${option#--cases=}" ;;
      *) if [ -n "$ofProblems" ]; then files+=("$option"); else rest+=("$option"); fi ;;
    esac
  done
  if [ ${#files[@]} -gt 0 ]; then
    sets=("${files[@]}")
    whole=(--problems "${files[@]}")
  else
    [ ${#sets[@]} -gt 0 ] || mapfile -t sets < <("$program" cost --list)
    whole=(--cases="$(IFS=, && echo "${sets[*]}")")
  fi
  { messages=$("$program" cost "${whole[@]}" "${rest[@]}" 2>&1 >&3) || status=$?; } 3>&1
  if [ $status != 3 ]; then # 3: no counter
    [ -z "$messages" ] || echo "$messages" >&2
    return $status
  fi
  if command -v valgrind > /dev/null; then
    export -f countByValgrind
    export program
    printf '%s\n' "${sets[@]}" | xargs -P "$jobs" -I{} bash -c 'countByValgrind "$@"' - {} "${rest[@]}" | sort
    return
  fi
  echo "tools/kernels.sh: $messages; no valgrind: microseconds of CPU instead, which vary by some per cent" >&2
  "$program" cost --counter=seconds "${whole[@]}" "${rest[@]}"
}

case $command in
  digest)
    case " $* " in *" --problems"* | *" --again"*) ;; *) set -- --problems "$root"/test/problems/*.desc "$@" ;; esac
    "$program" digest -o "$file" "$@"
    ;;
  instructions) instructions "$@" > "$file" ;;
  compare)
    [ $# -ge 1 ] || usage
    "$program" compare "$file" "$@"
    ;;
  *) usage ;;
esac
