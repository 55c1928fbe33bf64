//===- AArch64.h - The AArch64 architecture -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_AARCH64_H
#define QUERN_TARGETS_AARCH64_AARCH64_H

#include "Targets/Cpu/Architecture.h"

namespace quern {

const Architecture &aarch64Architecture();

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_AARCH64_H
