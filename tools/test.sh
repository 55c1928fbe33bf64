#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs missing packages, builds, and runs the tests.
#
#   tools/test.sh           the tests of CI: release, address+undefined and thread sanitizers, about 50 minutes on
#                           two cores with the build
#   tools/test.sh --quick   only the release build, under five minutes after the build
#   tools/test.sh --full    thousands of problems, against every peer, with the debug build, and a quarter of all
#                           primitives' cells, selected by the day of the commit: two hours on two cores
#   tools/test.sh --whole   like --full, with all cells
#
#   tools/test.sh --arm64   only the build for 64-bit Arm, which runs in QEMU, completely: libquern, its unit tests,
#                           first rounds on every level with kernels of the host's compiler, then the compiler for
#                           arm64 itself; the default and --full have a short form of it
#
#   --only=TEXT             only steps whose name contains TEXT, and those that install packages and build the release;
#                           to continue, or to repeat a step
#   --list                  prints the names of the steps without running them
#
# Prints one line for each step: numbers of passed and failed tests, seconds, and seconds of CPU. The output is in
# build/test-logs; the end of it is printed if a step fails. Later steps run after a failure. The last line is "N
# passed, N failed", over all tests of all steps; the exit status is 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."

mode=default
only=
list=
quarters=4
onlyArm64=
for option in "$@"; do
  case "$option" in
    --quick) mode=quick ;;
    --full) mode=full ;;
    --whole) mode=full quarters=1 ;;
    --arm64) mode=full onlyArm64=1 ;;
    --only=*) only=${option#--only=} ;;
    --list) list=1 ;;
    *)
      echo "usage: tools/test.sh [--quick|--full|--whole|--arm64] [--only=TEXT] [--list]" >&2
      exit 2
      ;;
  esac
done

root=$PWD
logs=$root/build/test-logs
lit=/usr/lib/llvm-22/bin/lit
# The sets of cases of each primitive, of backward RNNs, and of padded rows.
every=$(sed -n 's/^QUERN_PRIMITIVE([A-Za-z]*, \([a-z_]*\),.*/\1/p' lib/Desc/Primitives.def | paste -sd,)
every+=,rnn-backward,padded-rows
families=softmax,reorder,binary,eltwise,sum,concat,rnn # sets that have families
jobs=$(nproc)
passed=0
failed=0
uncompared=0
lane=()
if [ -z "$list" ]; then
  [ -n "$only" ] || rm -rf "$logs"
  mkdir -p "$logs"
fi

# The caller's settings must not affect a test.
for variable in $(compgen -e QUERN_ || true); do
  unset "$variable"
done
# The arena of an MLIR context is used by Quern's code, which poisons unallocated memory, and by the packaged library,
# which is not instrumented. Without user poisoning neither reports false errors.
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$root/test/tsan.supp

# pick QUICK DEFAULT FULL: prints the value for this mode.
pick() {
  case $mode in quick) echo "$1" ;; default) echo "$2" ;; full) echo "$3" ;; esac
}

# counts LOG: prints three numbers from the last line of ctest, lit or one of Quern's programs; nothing if there is
# none. They count passed tests, failed tests, and tests without a comparison: skipped tests, problems that a peer
# refuses, damaged lines.
counts() {
  awk '
    /tests passed, [0-9]+ tests failed out of [0-9]+/ { good += $NF - $4; bad += $4; found = 1 }
    /^[\t ]*[0-9]+ - .* \(Skipped\)$/ { good -= 1; skipped += 1 }
    /^ +(Unsupported|Skipped|Excluded) *: *[0-9]+/ { sub(/.*: */, ""); skipped += $1 }
    /^apart: [0-9]+/ { skipped = $2 }
    /^ +(Passed|Expectedly Failed) *: *[0-9]+/ { sub(/.*: */, ""); good += $1; found = 1 }
    /^ +(Failed|Unexpectedly Passed|Unresolved|Timed Out) *: *[0-9]+/ { sub(/.*: */, ""); bad += $1; found = 1 }
    /^[0-9]+ passed, [0-9]+ failed/ { good = $1; bad = $3; found = 1 }
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { skipped += $5 }
    END { if (found) print good + 0, bad + 0, skipped + 0 }' "$1"
}

# execute KIND NAME COMMAND…: runs COMMAND with a separate log and disk cache, prints the line of the step and writes
# its counts to a file. KIND `tests`: the log must end with counts; `one`: the step is one test.
execute() {
  local kind=$1 file=$2 name=$3 log good bad skipped status word seconds cpu TIMEFORMAT='%1R %1U %1S'
  shift 3
  log=$file.log
  { time QUERN_CACHE_DIR=$file.cache "$@" > "$log" 2>&1 < /dev/null; } 2> "$file.time"
  status=$?
  good=0 bad=0 skipped=0
  if [ "$kind" = tests ]; then
    read -r good bad skipped <<< "$(counts "$log")"
    good=${good:-0} bad=${bad:-0} skipped=${skipped:-0}
    [ $((good + bad)) -gt 0 ] || bad=1
    [ $status = 0 ] || [ "$bad" -gt 0 ] || bad=1
  else
    if [ $status = 0 ]; then good=1; else bad=1; fi
  fi
  word=ok
  [ "$bad" = 0 ] || word=FAILED
  read -r seconds cpu <<< "$(awk 'END { printf "%.1f %.1f", $1, $2 + $3 }' "$file.time")"
  printf '%-6s  %-46s %5d passed %4d failed %5d apart  %7s s  %7s s of CPU\n' \
    "$word" "$name" "$good" "$bad" "$skipped" "$seconds" "$cpu"
  if [ "$bad" != 0 ]; then
    echo "----- the end of ${log#"$root"/}"
    tail -n 40 "$log"
    echo "-----"
  fi
  rm -rf "$file.cache" "$file.time"
  echo "$good $bad $skipped" > "$file.counts"
}

# isWanted NAME: succeeds if this run has the step; with --list, prints its name and fails.
isWanted() {
  if [ -n "$list" ]; then
    echo "$1"
    return 1
  fi
  case "$1" in *"$only"* | install* | "build release") return 0 ;; *) return 1 ;; esac
}

# fileOf NAME: prints the path of the step's files without extension.
fileOf() {
  local name=${1,,}
  echo "$logs/${name//[^a-z0-9]/-}"
}

# add FILE: adds the counts of a step to the totals.
add() {
  local good bad skipped
  read -r good bad skipped < "$1.counts"
  passed=$((passed + good)) failed=$((failed + bad)) uncompared=$((uncompared + skipped))
  rm -f "$1.counts"
}

# step KIND NAME COMMAND…: runs a step that uses all cores.
step() {
  local file
  isWanted "$2" || return 0
  file=$(fileOf "$2")
  execute "$1" "$file" "${@:2}"
  add "$file"
}

# Starts a step, with the parameters of `step`, that uses about one core, concurrently with the following ones; at most
# one per core. `join` prints their lines.
startStep() {
  local file
  isWanted "$2" || return 0
  [ ${#lane[@]} -lt "$jobs" ] || finishFirst
  file=$(fileOf "$2")
  execute "$1" "$file" "${@:2}" > "$file.line" &
  lane+=("$! $file")
}

finishFirst() {
  local file=${lane[0]#* }
  wait "${lane[0]%% *}"
  lane=("${lane[@]:1}")
  cat "$file.line"
  rm -f "$file.line"
  add "$file"
}

# join: waits for all concurrent steps.
join() {
  while [ ${#lane[@]} -gt 0 ]; do
    finishFirst
  done
}

# build PRESET TARGET…: builds targets of a preset. A release that is built from nothing compiles the sources of each
# folder as one unit; with --full, only those of tests, so that the libraries are compiled from separate units. By
# default, the address sanitizer leaves out the tests of recipes, which are half of its time.
build() {
  local settings=()
  if [ "$1" = release ] && [ ! -e build/release/CMakeCache.txt ]; then
    settings=(-DQUERN_UNITY="$(pick ALL ALL TESTS)")
  fi
  [ "$1" != asan ] || settings=(-DQUERN_TEST_RECIPES="$(pick OFF OFF ON)")
  cmake --preset "$1" "${settings[@]}" && cmake --build --preset "$1" --target "${@:2}" -- -k 0
}

unit() { # PRESET: every ctest except the fuzzers; a test of the disk cache creates its own
  QUERN_CACHE_DIR=off ctest --test-dir "build/$1" -LE fuzz -j "$jobs" --output-on-failure --timeout 600
}

# unitSanitized PRESET: like unit, without Intel's GPU driver, because it opens libraries with RTLD_DEEPBIND, which
# terminates a sanitized process.
unitSanitized() {
  ZE_ENABLE_ALT_DRIVERS=none unit "$1"
}

conformance() { # PRESET SETS OPTION…: random problems against the naive reference
  "build/$1/bin/tests/quern-conformance" --cases="$2" --jobs="$jobs" "${@:3}"
}

conformanceByProcess() { # like conformance, compiled in other processes and linked by the loader
  QUERN_COMPILER=process conformance "$@" --linker=loader
}

# onDevice COMMAND…: runs on the Level Zero driver of the tests, over Intel's OpenCL runtime, whose compiler runs with
# few optimizations. The loader's checks turn invalid calls into errors. Device memory ends at inaccessible pages; if
# the device is a GPU, it starts at them.
onDevice() {
  ZE_ENABLE_ALT_DRIVERS=$root/build/release/lib/tests/libze_over_opencl.so \
    LD_LIBRARY_PATH=$root/build/peers/intel-opencl/lib \
    ZE_OPENCL_LIBRARY=$root/build/peers/intel-opencl/lib/libintelocl.so ZE_OPENCL_GUARD=${ZE_OPENCL_GUARD:-1} \
    ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 \
    CL_CONFIG_LLVM_OPTIONS="-fast-isel -optimize-regalloc=false -regalloc=fast -disable-lsr" "$@" --engine=gpu
}

# Like onDevice, but the driver reports its CPU device as a GPU, so work-items move vectors.
onDeviceAsGpu() {
  ZE_OPENCL_TYPE=gpu ZE_OPENCL_GUARD=2 onDevice "$@"
}

# oneDNN 3.2 crashes in RNNs of bytes if it uses AMX, so AMX is disabled.
differential() { # PEER SETS OPTION…: the same problems against genuine oneDNN
  tools/peers.sh "$1" && ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 conformance release "$2" --peer="build/peers/$1" "${@:3}"
}

# The steps with a seed of the day use the commit's date as a second seed. Each failure and the log show values that
# depend on it.
daySeed=$(git log -1 --format=%cd --date=format:%Y%m%d 2> /dev/null || date +%Y%m%d)
day=$(($(date -d "$daySeed" +%s) / 86400))
share=(--parts=$quarters --part=$day)
cells=(--all "${share[@]}")

# onArm64 CPU COMMAND…: runs a program of build/arm64 in QEMU, with these properties of the CPU (max,sve=off). Kernels
# come from the compiler of build/release, which runs natively.
onArm64() {
  QEMU_CPU=$1 QUERN_COMPILER=process QUERN_COMPILER_PROCESS=$root/build/release/lib/quern-compiler-process \
    QUERN_COMPILER_LIBRARY=$root/build/release/lib/libquern-compiler.so.0 QUERN_GUARD_SCRATCH=1 \
    qemu-aarch64-static -L build/peers/arm64 "${@:2}"
}

# conformanceArm64 CPU SETS OPTION…: runs the conformance program for arm64 in QEMU.
conformanceArm64() {
  onArm64 "$1" build/arm64/bin/tests/quern-conformance --cases="$2" --jobs="$jobs" --linker=loader "${@:3}"
}

# Leaves out the tests that start an arm64 program as the compiler process, because the system cannot run it.
unitArm64() {
  QUERN_CACHE_DIR=off ctest --test-dir build/arm64 -L '^quern-(core|runtime|api)-test$' -j "$jobs" --output-on-failure \
    --timeout 600 -E 'CompilerProcess|InTheBackground|ForksDoNotWaitForAHangingCompiler'
}

# compiledOnArm64 SETS OPTION…: like conformanceArm64, with the arm64 compiler in the same process and with both
# linkers.
compiledOnArm64() {
  QEMU_CPU=$(sve 256) QUERN_GUARD_SCRATCH=1 qemu-aarch64-static -L build/peers/arm64 \
    build/arm64/bin/tests/quern-conformance --cases="$1" --jobs="$jobs" --linker=both "${@:2}"
}

# recipesOnArm64 BITS: compares random chains, maps and contractions with naive loops, on every level of a machine with
# SVE.
recipesOnArm64() {
  QEMU_CPU=$(sve "$1") QUERN_TEST_COUNT=40 ctest --test-dir build/arm64 -L '^quern-schedule-test$' -j "$jobs" \
    --output-on-failure --timeout 1200
}

# sve BITS: prints the QEMU_CPU value for a CPU with SVE vectors of this length.
sve() {
  echo "max,sve-max-vq=$(($1 / 128)),sve-default-vector-length=$(($1 / 8))"
}

# shortOfArm64: builds the conformance program for arm64, and runs it on NEON and on SVE.
shortOfArm64() {
  step one "build arm64" build arm64 quern-conformance
  step tests "conformance, arm64, NEON" conformanceArm64 max,sve=off "$every" \
    --count="$(pick 0 2 30)" --damaged=0
  step tests "conformance, arm64, SVE of 256 bits" conformanceArm64 "$(sve 256)" "$every" \
    --count="$(pick 0 2 30)" --damaged=0
}

# allOfArm64: runs the first rounds on each level and vector length, and kernels that the arm64 compiler compiles and
# ORC links.
allOfArm64() {
  local bits
  step one "build arm64" build arm64 quern-conformance quern_dnnl quern_tool \
    quern-core-test quern-runtime-test quern-api-test
  step tests "unit tests, arm64" unitArm64
  step tests "programs of oneDNN, arm64" "$lit" -v --order=lexical build/arm64/test --filter=Dnnl/
  step tests "conformance, arm64, every level of NEON" conformanceArm64 max,sve=off "$every" --count=0 --isa=all
  for bits in 128 256 512; do
    step tests "conformance, arm64, SVE of $bits bits" conformanceArm64 "$(sve $bits)" "$every" \
      --count=0 --isa=sve,sve_bf16
  done
  step tests "families, arm64, NEON" conformanceArm64 max,sve=off "$families" --count=60 --damaged=0 --families
  step tests "families, arm64, SVE of 256 bits" conformanceArm64 "$(sve 256)" "$families" --count=60 --damaged=0 \
    --families
  step one "a pack of this machine, arm64" packOnArm64
  step one "build arm64, the compiler" build arm64 quern_compiler quern-schedule-test quern_remote \
    quern_mlir_compiler quern_mlir
  step tests "conformance, arm64, compiled there" compiledOnArm64 "$every" --count=6 --damaged=0
  for bits in 128 256 512; do
    step tests "recipes, arm64, SVE of $bits bits" recipesOnArm64 $bits
  done
  step one "install, arm64" installedOnArm64
}

# fromPackOnArm64 TARGET PACK FILE: runs the problems of the file without a compiler. The emulated CPU has more
# instructions than the target, so QUERN_MAX_CPU_ISA selects the target's packed layouts.
fromPackOnArm64() {
  QEMU_CPU=$(sve 256) QUERN_MAX_CPU_ISA=${1%%:*} QUERN_PACKS=$2 QUERN_TIERS=family QUERN_CACHE_DIR=off \
    QUERN_COMPILER_LIBRARY=/none \
    qemu-aarch64-static -L build/peers/arm64 build/arm64/bin/quern run -f "$3" --check --repeat=1
}

# packOnArm64: builds two packs on the host, one of problems and one of families, and tests their kernels on arm64.
packOnArm64() {
  local target
  for target in neon sve:vl=256; do
    build/release/bin/quern pack build test/problems/smoke.desc -o build/arm64/smoke.qpk --target=$target &&
      fromPackOnArm64 $target build/arm64/smoke.qpk test/problems/smoke.desc &&
      build/release/bin/quern pack build --families runtime/families.desc -o build/arm64/families.qpk \
        --target=$target &&
      fromPackOnArm64 $target build/arm64/families.qpk <(grep -v gemm runtime/families.desc) || return
  done
}

# installedOnArm64: checks that an installation compiles and computes on its own.
installedOnArm64() {
  rm -rf build/arm64/installed && cmake --install build/arm64 --prefix build/arm64/installed > /dev/null &&
    QEMU_CPU=$(sve 256) QUERN_CACHE_DIR=off QUERN_COMPILER=library qemu-aarch64-static -L build/peers/arm64 \
      build/arm64/installed/bin/quern run --check --repeat=1 \
      'softmax fwd_i alg=accurate src=f32:37x50:ab dst=bf16:37x50:ab axis=1'
}

# finish: prints the totals and exits with the status.
finish() {
  [ -n "$list" ] || echo "apart: $uncompared (skipped, refused by a peer or a device, damaged lines and mistakes)"
  [ -n "$list" ] || echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

# Checks all RNNs of batch 1. In a full run, also checks a quarter of the others, which the date selects, because the
# reference needs ten minutes for all.
rnnsOfModels() {
  local batchOne='^rnn.* src_layer=[a-z0-9]*:[0-9]+x1x' file=test/problems/rnn-bench.desc
  build/release/bin/quern run --check --repeat=1 -f <(
    grep -E "$batchOne" $file
    [ $mode != full ] || grep -E '^rnn' $file | grep -vE "$batchOne" | awk "NR % $quarters == $day % $quarters"
  )
}

# Consumers of SPIR-V are installed with the other packages, and downloads run during the release build. Level Zero is
# tested through a driver over Intel's runtime; without it, its tests are skipped. lit compiles programs written for
# oneDNN if its headers exist.
peers=(intel-opencl python jax hiredis)
[ $mode = quick ] || peers+=(onednn-3.13 onednn-3.2)
[ $mode != full ] || peers+=(torch flax)
if [ -n "$onlyArm64" ]; then
  step one "install what is missing" tools/deps.sh --arm64
  step one "install peers" tools/peers.sh onednn-3.13
  step one "build release" build release quern_compiler quern_compiler_process quern_tool
  allOfArm64
  finish
fi
# shellcheck disable=SC2046
step one "install what is missing" tools/deps.sh $(pick "" "--spirv-check --arm64" "--spirv-check --arm64")
startStep one "install peers" tools/peers.sh "${peers[@]}"
step one "build release" build release all
join
step tests "format" tools/format.sh --check
step tests "style" test/style/lint.py .
[ $mode = quick ] || step tests "API reference" tools/doxygen.sh
case $mode in
  default) step tests "clang-tidy" tools/tidy.sh --changed=50 --count=16 ;;
  full) step tests "clang-tidy" tools/tidy.sh "${share[@]}" ;;
esac
step tests "unit tests" unit release
step tests "lit" "$lit" -v --order=lexical build/release/test
step tests "Python, NumPy and JAX" test/Python/run.sh build/release
if [ $mode = full ]; then
  step tests "Python and PyTorch" test/Python/run.sh --torch build/release
  step tests "Python, the wheel" test/Python/wheel.sh
fi

# --count=0: every pair of types with every family of layouts; cells: every cell of types x layouts x attributes, on the
# widest ISA.
step tests "conformance of softmax, every ISA" conformance release softmax \
  "$(pick --count=240 --count=400 --count=0)" --isa=all
step tests "conformance of reorder, every ISA" conformance release reorder,reorder-round-trips,reorder-tags \
  "$(pick --count=100 --count=300 --count=0)" --linker=orc --isa=all
step tests "conformance of binary, every ISA" conformance release binary \
  "$(pick --count=200 --count=0 --count=0)" --isa=all
step tests "conformance of gemm, every ISA" conformance release gemm \
  "$(pick --count=40 --count=0 --count=0)" --isa=all
step tests "conformance of eltwise, every ISA" conformance release eltwise \
  "$(pick --count=60 --count=200 --count=600)" --isa=all
step tests "conformance of sum and concat, every ISA" conformance release sum,concat \
  "$(pick --count=100 --count=200 --count=0)" --linker=orc --isa=all
step tests "outputs on other arguments, every ISA" conformance release \
  "$every" "$(pick --count=30 --count=40 --count=250)" \
  --aliases --linker=orc --isa=all
step tests "functions in MLIR, every ISA" python3 test/Linalg/Inputs/check_functions.py \
  --quern=build/release/bin/quern --isa=all --jobs="$jobs" test/Linalg/Corpus/*.mlir
step tests "random functions in MLIR" python3 test/Linalg/Inputs/random_functions.py --quern=build/release/bin/quern \
  --seed="$daySeed" --jobs="$jobs" "$(pick --count=50 --count=150 --count=3000)"
step tests "functions on integers in MLIR" python3 test/Linalg/Inputs/exact_functions.py \
  --quern=build/release/bin/quern --seed="$daySeed" --jobs="$jobs" "$(pick --count=30 --count=100 --count=2000)"
step tests "kernels of families, every ISA" conformance release "$families" \
  "$(pick --count=30 --count=45 --count=400)" --families --linker=orc --isa=all
step tests "conformance of rnn, every ISA" conformance release rnn \
  "$(pick --count=60 --count=150 --count=500)" --isa=all
step tests "conformance of rnn backward, every ISA" conformance release rnn-backward \
  "$(pick --count=20 --count=60 --count=720)" --isa=all
step tests "conformance, compiled in another process" conformanceByProcess release \
  "$every" "$(pick --count=20 --count=60 --count=200)"
[ $mode != full ] || step tests "cells" conformance release softmax,reorder,reorder-round-trips,binary,sum,concat,gemm \
  "${cells[@]}" --linker=orc

[ $mode != full ] || step tests "masks in machine code" build/release/bin/tests/quern-kernels masks --count=400 \
  --problems test/problems/*-bench.desc

step tests "conformance, seed of the day" conformance release "$every" \
  "$(pick --count=50 --count=200 --count=600)" --seed="$daySeed" --linker=orc --damaged=0

# Each of these steps uses about one core. The longest one starts first.
# shellcheck disable=SC2046
startStep tests "hostile surroundings" tools/faults.sh $(pick --short --short "--full --most=20")
if [ $mode = full ]; then
  startStep tests "pairs of tags" conformance release reorder-tags "${cells[@]}" --linker=orc
  startStep tests "cells of rnn" conformance release rnn "${cells[@]}" --linker=orc
  startStep tests "cells of rnn backward" conformance release rnn-backward "${cells[@]}" --linker=orc
  startStep tests "cells of eltwise" conformance release eltwise "${cells[@]}" --linker=orc
else
  startStep tests "conformance of rnn" conformance release rnn "$(pick --count=100 --count=0 "")" --linker=orc
  startStep tests "conformance of rnn backward" conformance release rnn-backward \
    "$(pick --count=60 --count=240 "")" --linker=orc
  startStep tests "conformance of eltwise" conformance release eltwise "$(pick --count=200 --count=0 "")" --linker=orc
fi
startStep tests "fuzzing of lines, at page ends" build/release/bin/tests/quern-fuzz text --seed="$daySeed" \
  "$(pick --seconds=10 --seconds=60 --seconds=600)"
startStep tests "fuzzing of the C interface, at page ends" build/release/bin/tests/quern-fuzz api --seed="$daySeed" \
  "$(pick --seconds=10 --seconds=60 --seconds=600)"
startStep one "quern run, RNNs of models" rnnsOfModels
if [ $mode = default ]; then
  startStep tests "conformance of sum and concat" conformance release sum,concat --count=0 --linker=orc
  startStep tests "conformance of reorder, every pair" conformance release reorder --count=0 --linker=loader
fi
startStep tests "conformance of softmax, device" onDevice conformance release softmax \
  "$(pick --count=20 --count=200 --count=0)" --linker=orc
startStep tests "conformance of reorder, device" onDevice conformance release reorder \
  "$(pick --count=40 --count=300 --count=0)" --linker=orc
startStep tests "conformance of rnn, device" onDevice conformance release rnn \
  "$(pick --count=15 --count=60 --count=300)" --linker=orc
startStep tests "conformance of rnn backward, device" onDevice conformance release rnn-backward \
  "$(pick --count=10 --count=40 --count=200)" --linker=orc
startStep tests "conformance of all others, device" onDevice conformance release eltwise,binary,sum,concat,gemm \
  "$(pick --count=10 --count=60 --count=300)" --linker=orc
startStep tests "conformance of softmax and reorder, as a GPU" onDeviceAsGpu conformance release softmax,reorder \
  "$(pick --count=10 --count=60 --count=600)" --linker=orc
startStep tests "an output on each other argument, device" onDevice conformance release \
  "$every" "$(pick --count=5 --count=20 --count=120)" --aliases --linker=orc
startStep tests "functions in MLIR, device" onDevice python3 test/Linalg/Inputs/check_functions.py \
  --quern=build/release/bin/quern --jobs=1 test/Linalg/Corpus/*.mlir
startStep tests "random functions in MLIR, device" onDevice python3 test/Linalg/Inputs/random_functions.py \
  --quern=build/release/bin/quern --seed="$daySeed" "$(pick --count=20 --count=40 --count=600)"
startStep one "quern run, device" onDevice build/release/bin/quern run -f test/problems/device.desc \
  --check --repeat=1
startStep one "quern run, device as a GPU" onDeviceAsGpu build/release/bin/quern run -f test/problems/device.desc \
  --check --repeat=1
startStep tests "conformance of all others, as a GPU" onDeviceAsGpu conformance release \
  eltwise,binary,sum,concat,gemm,rnn "$(pick --count=5 --count=20 --count=200)" --linker=orc
startStep one "quern run, softmax of models" build/release/bin/quern run -f test/problems/softmax.desc --check \
  --repeat=1
join
[ $mode = quick ] || shortOfArm64
step tests "SPIR-V of any problem for any device" conformance release \
  "$every" "$(pick --count=10 --count=80 --count=1000)" --compile-only

if [ $mode != quick ]; then
  step tests "consumers refuse wrong SPIR-V" tools/spirv-check/spirv-check.py --self-test
  step tests "SPIR-V by its consumers" tools/spirv-check/spirv-check.py
  # At least a third of the requested problems of each set are compared.
  step tests "differential, oneDNN 3.2" differential onednn-3.2 softmax,reorder,binary,eltwise,sum,concat,rnn \
    "$(pick 0 --count=1000 --count=3000)"
  step tests "differential, oneDNN 3.13" differential onednn-3.13 softmax,reorder,binary,eltwise,sum,concat,rnn \
    "$(pick 0 --count=150 --count=1500)"
  for peer in onednn-3.2 onednn-3.13; do
    step tests "differential of rnn backward, $peer" differential $peer rnn-backward \
      "$(pick 0 --count=150 --count=1560)"
  done
  step one "build asan" build asan quern-unit-tests quern-fuzzers quern-conformance quern_tool \
    quern_compiler quern_compiler_process
  step tests "unit tests, asan" unitSanitized asan
  step tests "fuzzers, asan" ctest --test-dir build/asan -L fuzz -j "$jobs" --output-on-failure
  step tests "conformance, asan" conformance asan "$every" \
    --count="$(pick 0 80 200)"
  step one "quern run, asan" build/asan/bin/quern run -f test/problems/smoke.desc --check
  step one "build tsan" build tsan quern-unit-tests
  step tests "unit tests, tsan" unitSanitized tsan
fi

if [ $mode = full ]; then
  step one "tensors beyond 2^31 elements" build/release/bin/tests/quern-large-test
  step one "build debug" build debug all
  step tests "unit tests, debug" unit debug
  step tests "lit, debug" "$lit" -v --order=lexical build/debug/test
fi

finish
