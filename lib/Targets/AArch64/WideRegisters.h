//===- WideRegisters.h - Sums out of the way of narrow instructions -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_WIDEREGISTERS_H
#define QUERN_TARGETS_AARCH64_WIDEREGISTERS_H

#include "llvm/ADT/StringRef.h"

namespace quern {

/// The name in LLVM's registry of a machine pass, which registerWideRegisters() puts there. Instructions by element
/// take the element from the first eight or sixteen registers alone. Values that a loop carries are given registers
/// first, and would have those; the pass asks for others, so that no element is spilled.
constexpr llvm::StringLiteral wideRegistersName = "quern-wide-registers";
void registerWideRegisters();

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_WIDEREGISTERS_H
