#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs Family.cpp with a pack of the family of its problem, which the first run of a build creates.
#
# FAULTS: end-return-background short=20 full=1000: 40
# FAULTS: end-return-background-process short=5 full=1000: QUERN_COMPILER=process 40
set -euo pipefail
pack="$QUERN_BUILD/bin/tests/faults/softmax-family.qpk"
(
  flock 9
  if [ ! -e "$pack" ] || [ "$QUERN_LIBRARY" -nt "$pack" ]; then
    echo 'softmax fwd_i src=f32:64x1000:ab dst=f32:64x1000:ab axis=1' >problem.desc
    QUERN_COMPILER=library "$QUERN" pack build --families problem.desc -o "$pack" >/dev/null
  fi
) 9>"$pack.lock"
QUERN_PACKS="$pack" exec "$QUERN_BUILD/bin/tests/faults/Family" "$1"
