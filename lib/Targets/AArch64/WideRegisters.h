//===- WideRegisters.h - Keeping sums out of the low registers ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_WIDEREGISTERS_H
#define QUERN_TARGETS_AARCH64_WIDEREGISTERS_H

#include "llvm/ADT/StringRef.h"

namespace quern {

/// Name in LLVM's registry of a machine pass, which registerWideRegisters() registers. Instructions by element take the
/// element only from the first eight or sixteen registers. The allocator assigns loop-carried values first and would
/// use those registers; the pass adds hints to use other registers, so that no element is spilled.
constexpr llvm::StringLiteral wideRegistersName = "quern-wide-registers";
void registerWideRegisters();

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_WIDEREGISTERS_H
