#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh install|moved|pkgconfig|readme|cmake|gcc|mlir|dnnl|dnnl-cmake BUILD runs one stage of the consumer test.
# `install` installs BUILD into BUILD/test-install; the other stages use the installation as a user would, in folders
# outside the source tree.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$2" && pwd)
prefix=$build/test-install
work=$build/test-consumer
export QUERN_CACHE_DIR=$work/cache

case "$1" in
  install)
    rm -rf "$prefix" "$work"
    mkdir -p "$work"
    cmake --install "$build" --prefix "$prefix"
    # No installed file may contain the path of the source tree.
    if grep -rIl --exclude-dir=doc "$(cd "$here/../.." && pwd)" "$prefix"; then
      echo "the files above name the source tree" >&2
      exit 1
    fi
    "$prefix/bin/quern" run 'softmax fwd_i alg=accurate src=f32:7x33:ab dst=f32:7x33:ab axis=1' --check
    ;;
  pkgconfig)
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    # shellcheck disable=SC2046
    clang-22 -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/pkgconfig/main.c" \
      $(pkg-config --cflags --libs quern) -lm -fuse-ld=lld \
      "-Wl,-rpath,$(pkg-config --variable=libdir quern)" -o "$work/main"
    "$work/main"
    ;;
  readme)
    # The example in the README compiles and prints the result that is expected.
    awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../../README.md" > "$work/readme.cpp"
    [ "$(grep -cv '^ *$' "$work/readme.cpp")" -le 20 ]
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    # shellcheck disable=SC2046
    clang++-22 -std=c++17 -Wall -Wextra -Werror "$work/readme.cpp" $(pkg-config --cflags --libs quern) -fuse-ld=lld \
      "-Wl,-rpath,$(pkg-config --variable=libdir quern)" -o "$work/readme"
    [ "$("$work/readme")" = -10.8249 ]
    ;;
  cmake)
    cmake -G Ninja -S "$here/cmake" -B "$work/cmake" "-DCMAKE_PREFIX_PATH=$prefix" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"
    cmake --build "$work/cmake"
    "$work/cmake/use-quern"
    "$work/cmake/use-compiler"
    # A program with a pack of all its kernels needs no compiler and writes nothing, wherever the pack is.
    export QUERN_COMPILER_LIBRARY=$work/absent QUERN_CACHE_DIR=$work/pack-cache
    [ "$("$work/cmake/use-pack")" = "from memory" ]
    mkdir -p "$prefix/share/quern/packs"
    cp "$work/cmake/use-pack.qpk" "$prefix/share/quern/packs/"
    "$work/cmake/use-pack" installed | grep -q "from .*/packs/use-pack.qpk"
    rm "$prefix/share/quern/packs/use-pack.qpk"
    [ "$(QUERN_PACKS=$work/cmake/use-pack.qpk "$work/cmake/use-pack" installed)" = "from $work/cmake/use-pack.qpk" ]
    [ ! -e "$QUERN_CACHE_DIR" ]
    ;;
  gcc)
    # The C++ API with another compiler, which evaluates function arguments from the last to the first.
    if ! command -v g++ > /dev/null; then
      echo "there is no g++" >&2
      exit 77
    fi
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    # shellcheck disable=SC2046
    g++ -std=c++17 -Wall -Wextra -Werror "$here/cmake/main.cpp" $(pkg-config --cflags --libs quern) \
      "-Wl,-rpath,$(pkg-config --variable=libdir quern)" -o "$work/by-gcc"
    "$work/by-gcc"
    ;;
  moved)
    # The installation can be moved as a whole.
    rm -rf "$work/moved"
    cp -r "$prefix" "$work/moved"
    QUERN_CACHE_DIR=off "$work/moved/bin/quern" run \
      'softmax fwd_i alg=log src=f32:3x50:ab dst=f32:3x50:ab axis=1' --check
    ;;
  mlir)
    # The example of docs/embedding.md, with the installed plugin.
    mkdir -p "$work/mlir"
    cd "$work/mlir"
    awk '/^### From an MLIR/ { there = 1 } there && /^```/ { language = substr($0, 4); there += language == ""; next }
         there == 1 && language == "mlir" { print > "norm.mlir" } there == 2 && language == "sh" { print > "run.sh" }' \
      "$here/../../docs/embedding.md"
    export PATH=/usr/lib/llvm-22/bin:$PATH QUERN=$prefix/lib MLIR=/usr/lib/llvm-22/lib
    bash -e -o pipefail run.sh | tee /dev/stderr |
      grep -q '^\[9\.'
    ;;
  dnnl)
    # A program that needs libdnnl.so.3 finds the drop-in, which finds the other libraries relative to its own folder.
    clang-22 -std=c11 -Wall -Wextra -Werror "$here/dnnl/main.c" "$prefix/lib/quern-dnnl/libdnnl.so.3" -fuse-ld=lld \
      "-Wl,--allow-shlib-undefined" -o "$work/dnnl"
    [ "$(LD_LIBRARY_PATH=$prefix/lib/quern-dnnl "$work/dnnl")" = "success, 0.5 0.5" ]
    [ "$(LD_PRELOAD=$prefix/lib/quern-dnnl/libquern_dnnl.so "$work/dnnl")" = "success, 0.5 0.5" ]
    ;;
  dnnl-cmake)
    # A program that was linked with an installed oneDNN runs with the drop-in unchanged. If the program's own run path
    # to oneDNN takes precedence, the drop-in must be preloaded.
    peer=$here/../../build/peers/onednn-3.2
    if [ ! -e "$peer/installed" ]; then
      echo "tools/peers.sh onednn-3.2 has not been run" >&2
      exit 77
    fi
    cmake -G Ninja -S "$here/dnnl" -B "$work/dnnl-cmake" "-DCMAKE_PREFIX_PATH=$peer" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"
    cmake --build "$work/dnnl-cmake"
    expected="0.0900 0.2447 0.6652 0.3333 0.3333 0.3333"
    dropin=$prefix/lib/quern-dnnl
    [ "$("$work/dnnl-cmake/use-dnnl")" = "3.2: $expected" ]
    [ "$(LD_LIBRARY_PATH=$dropin "$work/dnnl-cmake/use-dnnl")" = "3.13: $expected" ]
    for program in use-dnnl use-dnnl-rpath; do
      [ "$(LD_PRELOAD=$dropin/libquern_dnnl.so "$work/dnnl-cmake/$program")" = "3.13: $expected" ]
    done
    ;;
  *)
    echo "usage: run.sh install|moved|pkgconfig|readme|cmake|gcc|mlir|dnnl|dnnl-cmake BUILD" >&2
    exit 2
    ;;
esac
