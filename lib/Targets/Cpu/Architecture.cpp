//===- Architecture.cpp - Table of the CPU architectures ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Architecture.h"

#include "Targets/AArch64/AArch64.h"
#include "Targets/X86/X86.h"

using namespace quern;

const Architecture &quern::architectureOf(CpuArch arch) {
  return arch == CpuArch::X86_64 ? x86Architecture() : aarch64Architecture();
}
