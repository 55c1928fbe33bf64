#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the wheel, whose compiler contains LLVM, and installs it into an empty environment. Then uses it twice, the
# second time with the system's LLVM and TBB hidden, if the user may mount. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$PWD/build/peers/python/bin/python

rm -rf build/python/wheel build/python/empty
"$python" -m build --wheel --no-isolation --outdir build/python/wheel \
  -C cmake.define.CMAKE_DISABLE_FIND_PACKAGE_Quern=ON \
  -C cmake.define.QUERN_XLA_INCLUDE="$PWD/build/peers/jax/lib/python3.11/site-packages/jaxlib/include" \
  -C cmake.define.QUERN_TORCH= -C build-dir="$PWD/build/python/wheel-build" runtime/Python
ls -l build/python/wheel
size=$(stat -c %s build/python/wheel/quern-*.whl)
[ "$size" -le $((60 << 20)) ] || { echo "the wheel has $size bytes"; exit 1; }

python3 -m venv build/python/empty
build/python/empty/bin/pip install --quiet --disable-pip-version-check build/python/wheel/quern-*.whl
cat > build/python/use-wheel.py <<'EOF'
import os, sys, numpy, quern
x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
y = numpy.exp(x - x.max(1, keepdims=True))
assert abs(quern.softmax(x) - y / y.sum(1, keepdims=True)).max() < 1e-6
problem = quern.Problem("rnn fwd_i cell=lstm direction=left2right src_layer=f32:12x8x64:tnc "
                        "weights_layer=f32:1x1x64x4x96:any weights_iter=f32:1x1x96x4x96:any dst_layer=f32:12x8x96:tnc")
assert problem.info["origin"] == "compiled" and problem.check().ok
assert quern.Problem("softmax fwd_i src=f32:37x41:ab dst=f32:37x41:ab axis=1").info["origin"] == "family"
lib = os.path.join(os.path.dirname(quern.__file__), "lib")
assert {"libquern-remote.so.0", "libhiredis.so.0.14", "libsodium.so.23"} <= set(os.listdir(lib))
if any(sys.argv[1:]):  # libcurl is installed
    import ctypes
    ctypes.CDLL(os.path.join(lib, "libquern-remote.so.0"))
for line in open("/proc/self/maps"):
    path = line.split(maxsplit=5)[5].strip() if len(line.split()) > 5 else ""
    if any(name in path for name in ("quern", "LLVM", "MLIR", "tbb", "xxhash")):
        assert path.startswith(os.path.dirname(quern.__file__)), path
EOF
use() { QUERN_CACHE_DIR=off "$@" build/python/empty/bin/python build/python/use-wheel.py; }
QUERN_CACHE_DIR=off build/python/empty/bin/python build/python/use-wheel.py "$(ldconfig -p | grep libcurl.so.4)"
use env
if unshare --mount true 2> /dev/null; then
  # Hide LLVM and TBB.
  use unshare --mount sh -c 'mount -t tmpfs none /usr/lib/llvm-22 && mount --bind /dev/null "$(readlink -f \
    /usr/lib/x86_64-linux-gnu/libtbb.so.12)" && exec "$@"' sh
  echo "2 passed, 0 failed"
else
  echo "apart: 1"
  echo "1 passed, 0 failed"
fi
