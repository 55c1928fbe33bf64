# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Cross-compiles for 64-bit Arm: clang 22 and lld; libraries below build/peers/arm64 (tools/deps.sh --arm64); programs
# run in QEMU's user mode, with all CPU features that QEMU has unless the environment variable QEMU_CPU is set.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES QUERN_ARM64_ROOT)
set(QUERN_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../build/peers/arm64
  CACHE PATH "Debian's packages for arm64, unpacked")
get_filename_component(root "${QUERN_ARM64_ROOT}" REALPATH)
if(NOT EXISTS ${root}/installed)
  message(FATAL_ERROR "no libraries for arm64 in ${root}: run tools/deps.sh --arm64")
endif()

set(CMAKE_SYSROOT ${root})
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -fuse-ld=lld) # the presets set it for executables and shared libraries
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${root})

set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
