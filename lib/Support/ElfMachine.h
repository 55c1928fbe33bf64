//===- ElfMachine.h - The machine of this process in object files ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_ELFMACHINE_H
#define QUERN_SUPPORT_ELFMACHINE_H

#include <cstdint>
#include <elf.h>

namespace quern {

#if defined(__x86_64__)
constexpr uint16_t hostElfMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t hostElfMachine = EM_AARCH64;
#else
#error "objects are loaded on x86-64 and AArch64"
#endif

} // namespace quern

#endif // QUERN_SUPPORT_ELFMACHINE_H
