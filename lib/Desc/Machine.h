//===- Machine.h - Detection of the machine's properties ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Functions for Target::host(). Each architecture has a file, Machine*.cpp. Every call queries the machine again.
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

/// Returns the highest level that the CPU has and the operating system supports.
CpuIsa detectIsa();
/// Returns the vector length of SVE in this process, in bits; 0 without SVE.
int32_t detectVectorBits();
/// Sets the sizes in KiB of the data or unified caches of levels 1 to 3; sizes that the machine does not report are
/// unchanged.
void detectCaches(Target &target);

} // namespace quern::machine

#endif // QUERN_DESC_MACHINE_H
