#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the libraries with which Quern is compared into build/peers, each into a separate Python environment.
#
#   tools/peers.sh            both genuine oneDNN builds: onednn-3.2 (OpenMP) and onednn-3.13 (SYCL)
#   tools/peers.sh NAME…      only these peers; further ones: onnxruntime, jax, torch (5 GB: its package includes
#                             CUDA), iree, and intel-opencl (700 MB), the OpenCL runtime under the Level Zero driver
#                             of the tests; python, with which the Python package is built and tested; flax, for an
#                             example of docs/jax.md; hiredis, the sources of version 1, for a test of the remote cache
#   tools/peers.sh --all      all ten
#
# Peers that are installed are skipped. None is needed to build or to use Quern.
set -euo pipefail
cd "$(dirname "$0")/.."

# install NAME PACKAGE…: installs into build/peers/NAME, which is complete if it has the file `installed`.
install() {
  local environment=build/peers/$1
  shift
  [ "$(cat "$environment/installed" 2>/dev/null)" != "$*" ] || return 0
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" > "$environment/installed"
}

# The package of the OpenMP build has no OpenMP runtime.
installOpenMp() {
  if ldconfig -p | grep -q 'libgomp\.so\.1'; then
    return 0
  elif [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends libgomp1
  else
    echo "oneDNN 3.2 needs libgomp: sudo apt-get install libgomp1" >&2
    exit 1
  fi
}

case "${1-}" in
  "") set -- onednn-3.2 onednn-3.13 ;;
  --all) set -- onednn-3.2 onednn-3.13 onnxruntime jax torch iree intel-opencl python flax hiredis ;;
esac
for peer in "$@"; do
  case "$peer" in
    onednn-3.2)
      installOpenMp
      install onednn-3.2 onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0
      ;;
    onednn-3.13) install onednn-3.13 onednn==2026.1.0 onednn-devel==2026.1.0 ;;
    onnxruntime) install onnxruntime onnxruntime==1.31.0 onnx numpy ;;
    jax) install jax jax==0.10.2 numpy ;;
    torch) install torch torch==2.15.0 numpy ;;
    iree) install iree iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy ;;
    intel-opencl) install intel-opencl intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 ;;
    python)
      install python nanobind==3.1.0 scikit-build-core==1.1.2 pytest==9.2.0 build==1.6.1 numpy==2.4.6 \
        ml_dtypes==0.6.0 apache-tvm-ffi==0.1.15.post2
      ;;
    flax) # used together with jax; their other dependencies are not needed here
      install flax --no-deps flax==0.12.8 optax==0.2.8 absl-py==2.5.1 chex==0.1.92 toolz==1.2.0 msgpack \
        typing_extensions treescope rich pygments markdown-it-py mdurl PyYAML
      ;;
    hiredis) # the C sources in the Python package
      install hiredis setuptools wheel
      if [ ! -d build/peers/hiredis/source/hiredis ]; then
        build/peers/hiredis/bin/pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
          --no-binary hiredis --dest build/peers/hiredis/download hiredis==3.5.0
        mkdir -p build/peers/hiredis/source
        tar -xf build/peers/hiredis/download/hiredis-3.5.0.tar.gz -C build/peers/hiredis/source --strip-components=2 \
          hiredis-3.5.0/vendor/hiredis
      fi
      ;;
    *)
      echo "unknown peer '$peer': onednn-3.2, onednn-3.13, onnxruntime, jax, torch, iree, intel-opencl, python, flax" \
        "and hiredis are known" >&2
      exit 2
      ;;
  esac
done
