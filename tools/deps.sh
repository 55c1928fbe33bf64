#!/usr/bin/env bash
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the Debian 12 packages that Quern needs to build and test. Installs as root or with sudo; otherwise prints
# the command to run and fails. Usually nothing is missing, so `dpkg-query` is queried first.
#
#   tools/deps.sh                 packages for building and testing
#   tools/deps.sh --build         packages for building only, without the servers, browser and debugger of the tests
#   tools/deps.sh --spirv-check   also those of tools/spirv-check: Intel's compiler and driver, oclgrind (200 MB)
#   tools/deps.sh --arm64         also those that the preset arm64 builds with and runs its programs in: QEMU, and
#                                 Debian's libraries for arm64 in build/peers/arm64 (430 MB)
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages that configuring and building need, the tests included.
packages=(
  cmake ninja-build pkg-config git g++
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libtbb-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libzstd-dev
  libgtest-dev libgmock-dev libze-dev opencl-c-headers
  libhiredis-dev libcurl4-openssl-dev libsodium-dev python3
)
# Packages that running the tests, sanitizers, formatting and the Python module need.
testPackages=(
  clang-format-22 clang-tidy-22 libclang-rt-22-dev libbenchmark-dev libze1 spirv-tools
  redis-server nginx-light openssl python3-dev python3-venv chromium gdb doxygen
)
spirvPackages=(spirv-tools intel-opencl-icd libze1 oclgrind llvm-spirv-14 binutils)
# Libraries of libquern, its tests and the compiler, in a separate root, because some of these packages cannot be
# installed together with the native ones.
arm64Packages=(
  libc6-dev libstdc++-12-dev libtbb-dev libxxhash-dev libzstd-dev libcurl4-openssl-dev libhiredis-dev libsodium-dev
  libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev opencl-c-headers libmlir-22
)
arm64=
tests=1
for option in "$@"; do
  case "$option" in
    --build) tests= ;;
    --spirv-check) packages+=("${spirvPackages[@]}") ;;
    --arm64) packages+=(qemu-user-static) arm64=1 ;;
    *)
      echo "usage: tools/deps.sh [--build] [--spirv-check] [--arm64]" >&2
      exit 2
      ;;
  esac
done
[ -z "$tests" ] || packages+=("${testPackages[@]}")

# arm64Root: unpacks Debian's packages for arm64 and their dependencies below build/peers/arm64, which is complete if it
# has the file `installed`. apt also keeps its state there, so the system's packages and architectures do not change and
# no rights are needed.
arm64Root() {
  local root=build/peers/arm64 new=build/peers/arm64.new package link
  [ "$(cat $root/installed 2>/dev/null)" != "${arm64Packages[*]}" ] || return 0
  rm -rf $root $new
  mkdir -p $new/apt/lists/partial $new/apt/archives/partial
  cat > $new/apt/apt.conf <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Dir::State "$PWD/$new/apt";
Dir::State::status "/dev/null";
Dir::Cache "$PWD/$new/apt";
END
  export APT_CONFIG=$PWD/$new/apt/apt.conf
  apt-get update -q
  apt-get install -qy --download-only --no-install-recommends "${arm64Packages[@]}"
  unset APT_CONFIG
  for package in "$new"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" |
      tar -x -C $new --no-same-owner --exclude=./usr/share/doc --exclude=./usr/share/man
  done
  # An absolute link would point outside of this root.
  find $new -lname '/*' | while read -r link; do
    ln -sfnr "$new$(readlink "$link")" "$link"
  done
  # Headers that Debian packages only for other architectures.
  cp -r /usr/include/level_zero $new/usr/include/
  cp /usr/lib/*/pkgconfig/{level-zero,libze_loader}.pc $new/usr/lib/aarch64-linux-gnu/pkgconfig/
  rm -rf $new/apt
  echo "${arm64Packages[*]}" > $new/installed
  mv $new $root
}

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
  [ -z "$arm64" ] || arm64Root
  exit 0
fi

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
[ -z "$arm64" ] || arm64Root
