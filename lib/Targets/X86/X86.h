//===- X86.h - The x86 architecture ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_X86_X86_H
#define QUERN_TARGETS_X86_X86_H

#include "Targets/Cpu/Architecture.h"

namespace quern {

const Architecture &x86Architecture();

} // namespace quern

#endif // QUERN_TARGETS_X86_X86_H
