//===- Machine.h - What the machine has that runs this process ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What Target::host() is made of. There is a file for each architecture, Machine*.cpp; each asks anew.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_MACHINE_H
#define QUERN_DESC_MACHINE_H

#include "Desc/Target.h"

namespace quern::machine {

#if defined(__x86_64__)
constexpr CpuArch arch = CpuArch::X86_64;
#elif defined(__aarch64__)
constexpr CpuArch arch = CpuArch::AArch64;
#else
#error "kernels are compiled for x86-64 and AArch64"
#endif

/// The highest level that the CPU has and the operating system supports.
CpuIsa detectIsa();
/// Length of SVE's vectors in this process; 0 without SVE.
int32_t detectVectorBits();
/// Sizes in KiB of the data or unified caches of levels 1 to 3; one that the machine does not tell stays as it is.
void detectCaches(Target &target);

} // namespace quern::machine

#endif // QUERN_DESC_MACHINE_H
