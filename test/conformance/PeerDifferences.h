//===- PeerDifferences.h - Known differences of peers ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Known differences of several primitives. In oneDNN, sum and concat consist of consecutive reorders.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_PEERDIFFERENCES_H
#define QUERN_CONFORMANCE_PEERDIFFERENCES_H

#include "Cases.h"

namespace quern {

/// Returns true if the values are neighbors in the type, or near 0; for s32, neighbors in f32.
bool isRoundedOtherwise(DataType type, double ours, double theirs);
/// Returns true if the peer's element may result from another order of the same f32 arithmetic, or from a fused one:
/// the rounded image of a value within a few ulps of the terms.
bool isOfOtherOrder(const ReferenceOutput &exact, size_t element, double theirs);
/// Returns true if the values are at opposite ends of an integer type, such as after s32 arithmetic wraps around.
bool areOppositeEnds(DataType type, double ours, double theirs);
/// Returns true if the values are neighbors in an f8 type, or NaN and 448 in f8_e4m3: one was rounded to f16 first.
bool isRoundedTwice(DataType type, double ours, double theirs);
/// Returns true if only one side is NaN, or the exact value of an integer is NaN, and a post-op before sqrt, log or pow
/// is inaccurate, so that its value may be 0 or have the other sign.
bool isNanAtDomainEdge(const PeerComparison &with, size_t element, double ours, double theirs);
/// Returns true if a logistic may have mapped NaN to 0, as in `ref` implementations.
bool isLogisticOfNan(const PeerComparison &with, double ours, double theirs);
/// Returns true if an exp may have mapped NaN to infinity, as in `jit` implementations.
bool isExpOfNan(const PeerComparison &with, double ours, double theirs);
/// Returns true if a relu with alpha = 0 may have multiplied -infinity by 0, as in `ref` implementations: NaN.
bool isReluOfInfinity(const PeerComparison &with, double ours, double theirs);
/// Returns true if a buffer has bytes that are neither elements nor padding; the offset of the first element is
/// ignored.
bool hasGaps(const TensorDesc &desc);
/// Returns true for oneDNN 3.2, which lacks some features.
bool isOldPeer(std::string_view peer);
bool isOldPeer(const PeerComparison &with);
/// Returns true for f64 in a binary post-op, which 3.2 accepts and misreads.
bool isF64Misread(const PeerComparison &with);
/// Returns the difference of a conversion from `from` to `to` in oneDNN, which all primitives share.
Difference differenceOfConversion(DataType from, DataType to, double ours, double theirs);

} // namespace quern

#endif // QUERN_CONFORMANCE_PEERDIFFERENCES_H
