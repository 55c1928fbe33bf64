#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the API reference from the comments of include/ and prints every declaration that has none.
#
#   tools/doxygen.sh        the reference is build/doxygen/html/index.html
#
# The last line is "N passed, N failed": documented functions, and warnings of Doxygen. The exit status is 1 if there
# are warnings.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

if ! command -v doxygen > /dev/null; then
  echo "tools/doxygen.sh needs doxygen. Install it with tools/deps.sh, or: apt-get install doxygen" >&2
  exit 1
fi

# reference SETTING…: runs Doxygen with these settings in addition to docs/Doxyfile, and prints its warnings.
reference() {
  { cat docs/Doxyfile && printf '%s\n' "$@"; } | doxygen - 2>&1 | sed "s#^$PWD/##"
}

mkdir -p build
rm -rf build/doxygen
warnings=$(
  reference 'FILE_PATTERNS=*.h' HTML_OUTPUT=c INPUT=include/quern
  reference WARN_NO_PARAMDOC=NO GENERATE_TAGFILE=build/doxygen/quern.tag
)
warnings=$(awk '!seen[$0]++' <<< "$warnings") # both runs read the C headers
[ -z "$warnings" ] || printf '%s\n' "$warnings"
failed=$(printf '%s' "$warnings" | grep -cE '(error|warning): ')
passed=$(grep -c '<member kind="function">' build/doxygen/quern.tag 2> /dev/null)
[ "${passed:-0}" -gt 0 ] || failed=$((failed + 1))
echo "${passed:-0} passed, $failed failed"
[ "$failed" = 0 ]
