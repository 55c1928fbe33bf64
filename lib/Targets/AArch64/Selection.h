//===- Selection.h - IR rewrites for better instruction selection ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_SELECTION_H
#define QUERN_TARGETS_AARCH64_SELECTION_H

#include "llvm/IR/Function.h"

namespace quern {

/// Replaces a comparison and select that compute the maximum or minimum of a value and a constant by one instruction.
/// Results are the same, except that a signaling NaN becomes quiet.
void useMaxInstructions(llvm::Function &function);

/// Moves vectors of float constants before the innermost loops that use them: for SVE registers, LLVM creates them in
/// each iteration, with one instruction each.
void placeFloatVectors(llvm::Function &function);

/// Adds loop-invariant terms to the bases of addresses before innermost loops.
void placeAddresses(llvm::Function &function);

/// Computes the starts of panels that are far from each other before the product loops that read them. An access can
/// encode an offset of fewer than `offsetRange` bytes.
void placePanels(llvm::Function &function, int64_t offsetRange);

/// Uses one instruction to load four contiguous NEON registers that are used separately. It needs fewer issue slots
/// than two pair loads.
void useRegisterLists(llvm::Function &function);

/// Annotates innermost loops whose iteration counts are known with counts for the register allocator: at least 128 for
/// product loops, so that values outside them are spilled, and at most 32 for others.
void annotateTripCounts(llvm::Function &function);

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_SELECTION_H
