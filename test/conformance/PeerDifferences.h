//===- PeerDifferences.h - What peers do differently ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the differences of several primitives have in common: of oneDNN's, sum and concat are
// reorders one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_PEERDIFFERENCES_H
#define QUERN_CONFORMANCE_PEERDIFFERENCES_H

#include "Cases.h"

namespace quern {

/// Neighbours in the type, or near 0; of s32 neighbours in f32.
bool isRoundedOtherwise(DataType type, double ours, double theirs);
/// Whether a peer's element is what another order of the same f32 arithmetic, or a fused one, gives: what follows,
/// rounded, from a value within a few units of the last place of the terms.
bool isOfOtherOrder(const ReferenceOutput &exact, size_t element, double theirs);
/// Whether the two are at different ends of an integer type, as where s32 arithmetic wraps around.
bool areOppositeEnds(DataType type, double ours, double theirs);
/// Neighbours in a type of 8 bits: one of them was first rounded to f16.
bool isRoundedTwice(DataType type, double ours, double theirs);
/// NaN on one side alone, where a post-op in front of sqrt, log or pow is less exact: its value is 0
/// or on the other side of it.
bool isBesideDomain(const PeerComparison &with, size_t element, double ours, double theirs);
/// In `ref` implementations a logistic makes 0 of NaN.
bool isLogisticOfNan(const PeerComparison &with, double ours, double theirs);
/// In `jit` implementations an exp makes infinity of NaN.
bool isExpOfNan(const PeerComparison &with, double ours, double theirs);
/// Whether a buffer has bytes that are neither elements nor padding; the offset of the first element does not count.
bool hasGaps(const TensorDesc &desc);
/// 3.2, in which some things are missing.
bool isOldPeer(std::string_view peer);
bool isOldPeer(const PeerComparison &with);
/// f64 in a post-op, which 3.2 takes and reads as something else.
bool isF64Misread(const PeerComparison &with);
/// What a conversion from `from` to `to` does otherwise in oneDNN, whatever primitive has it.
Difference differenceOfConversion(DataType from, DataType to, double ours, double theirs);

} // namespace quern

#endif // QUERN_CONFORMANCE_PEERDIFFERENCES_H
