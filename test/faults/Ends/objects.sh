#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the libraries have no object whose destructor runs at the end of a thread or process, and none whose
# creation a fork could interrupt: names of functions that compilers call for those.
#
# FAULTS: objects-of-libraries limit=60:
set -euo pipefail
command -v nm >/dev/null || { echo "skipped: there is no nm"; exit 77; }
failed=0
check() { # FILE WHAT LINES
  [ -z "$3" ] || { echo "$1 has $2:" && echo "$3" && failed=1; }
}
for name in libquern.so.0 libquern-remote.so.0 quern-dnnl/libdnnl.so.3; do
  file="$QUERN_BUILD/lib/$name"
  [ -e "$file" ] || continue
  check "$file" "thread_local objects with destructors" "$(nm -u "$file" | grep __cxa_thread_atexit || true)"
  check "$file" "objects that a fork can find half made" \
    "$(nm -C "$file" | grep 'guard variable' | grep -v 'quern::immortal<' || true)"
  check "$file" "no flag that keeps it in memory" "$(readelf -d "$file" | grep -q NODELETE || echo missing)"
done
# With shared libraries of LLVM the function is called, in the order that AtExitShared.cpp describes.
compiler="$QUERN_BUILD/lib/libquern-compiler.so.0"
if ! readelf -d "$compiler" | grep -q 'NEEDED.*libLLVM'; then
  check "$compiler" "objects whose destructors are registered" "$(nm -D -u "$compiler" | grep '__cxa_atexit' || true)"
fi
exit $failed
