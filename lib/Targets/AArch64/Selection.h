//===- Selection.h - What selection does better when it is done -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_SELECTION_H
#define QUERN_TARGETS_AARCH64_SELECTION_H

#include "llvm/IR/Function.h"

namespace quern {

/// Makes the larger or smaller of a value and a constant, a comparison with a choice, the one instruction that it is.
/// Results are the same, but that a signalling NaN comes out quiet.
void useMaxInstructions(llvm::Function &function);

/// Makes vectors of float constants in front of the innermost loops that use them: of SVE's registers LLVM makes them
/// in each turn, by an instruction each.
void placeFloatVectors(llvm::Function &function);

/// Adds what is the same in each turn of an innermost loop to the addresses in front of it.
void placeAddresses(llvm::Function &function);

/// Makes the beginnings of panels, which lie far from each other, in front of the loops of products that read them. An
/// access reaches addresses that are fewer than `reach` bytes behind another.
void placePanels(llvm::Function &function, int64_t reach);

/// Loads four registers of NEON's by one instruction where they lie side by side and are used one by one: it takes
/// fewer slots of a core than two that load pairs.
void useRegisterLists(llvm::Function &function);

/// How often innermost loops turn where that is known, so that what they keep in registers is worth as much; of loops
/// of products at least as often as others, so that it is what is around them that waits in memory.
void tellTurns(llvm::Function &function);

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_SELECTION_H
