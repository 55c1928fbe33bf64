#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what Quern needs to build and test, from Debian 12's own packages. As root or with sudo it installs;
# otherwise it prints the one line to run and fails. Doing nothing is the common case: `dpkg-query` is asked first.
#
#   tools/deps.sh                 what building and testing need
#   tools/deps.sh --spirv-check   and what tools/spirv-check gives SPIR-V to: Intel's
#                                 compiler and driver, oclgrind (200 MB)
set -euo pipefail

packages=(
  cmake ninja-build pkg-config git g++
  clang-22 clang-format-22 clang-tidy-22 lld-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libtbb-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libzstd-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  libze-dev libze1 opencl-c-headers spirv-tools
  libhiredis-dev libcurl4-openssl-dev libsodium-dev redis-server nginx-light openssl
  python3 python3-dev python3-venv chromium gdb
)
[ "${1-}" != --spirv-check ] || packages+=(spirv-tools intel-opencl-icd libze1 oclgrind llvm-spirv-14 binutils)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
  sh -c "$install"
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  sudo sh -c "$install"
else
  echo "Quern needs packages that are not installed, and this user cannot install them. Run:" >&2
  echo "  sudo sh -c '$install'" >&2
  exit 1
fi
