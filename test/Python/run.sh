#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the Python package with a built tree and tests it. The last line of the output is "N passed, N failed".
#
#   test/Python/run.sh [--torch] BUILD [OPTION…]   BUILD is e.g. build/release; OPTIONs are passed to pytest
#
# The interpreter and the build requirements are in build/peers/python. The tests that need JAX run with build/peers/jax
# and, for one example, with build/peers/flax if it exists. With --torch, the tests that need PyTorch run instead, with
# build/peers/torch. The package is installed into build/python and rebuilt if a source has changed.
set -euo pipefail
cd "$(dirname "$0")/../.."

framework=jax torch=
if [ "${1-}" = --torch ]; then
  framework=torch torch=$PWD/build/peers/torch/lib/python3.11/site-packages/torch
  shift
fi
build=$1
shift
packages() { echo "$PWD/build/peers/$1/lib/python3.11/site-packages"; }
python=$PWD/build/peers/python/bin/python

cmake --install "$build" --prefix build/python/prefix > build/python-install.log
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --upgrade \
  --target build/python/site -C cmake.define.Quern_DIR="$PWD/build/python/prefix/lib/cmake/Quern" \
  -C cmake.define.QUERN_XLA_INCLUDE="$(packages jax)/jaxlib/include" -C cmake.define.QUERN_TORCH="$torch" \
  ./runtime/Python \
  > build/python-package.log 2>&1 || { cat build/python-package.log; echo "0 passed, 1 failed"; exit 1; }
# The framework's copy of NumPy comes first, so that only one is loaded.
export PYTHONPATH=$PWD/build/python/site:$(packages $framework):$(packages python):$(packages flax)
# Not all builds contain families, and tests check the origin of kernels, so families are not used.
export QUERN_TIERS=specialized
"$python" -m pytest -q -p no:cacheprovider --show-capture=no --framework=$framework "$@" test/Python
