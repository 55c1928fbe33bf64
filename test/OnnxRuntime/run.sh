#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the tests of libquern-onnxruntime. The exit status is 77 if they cannot run.
#
#   test/OnnxRuntime/run.sh LIBRARY [OPTION…]   LIBRARY is e.g. build/release/lib/libquern-onnxruntime.so;
#                                               OPTIONs are passed to unittest
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$here/../../build/peers/onnxruntime/bin/python

if [ -z "${1-}" ] || [ ! -f "$1" ]; then
  echo "skipped: libquern-onnxruntime was not built (QUERN_ONNXRUNTIME_INCLUDE)"
  exit 77
elif [ ! -x "$python" ]; then
  echo "skipped: ONNX Runtime is not installed (tools/peers.sh onnxruntime)"
  exit 77
fi
export QUERN_ONNXRUNTIME_LIBRARY=$1 PYTHONDONTWRITEBYTECODE=1
shift
exec "$python" "$here/onnxruntime_test.py" -v "$@"
