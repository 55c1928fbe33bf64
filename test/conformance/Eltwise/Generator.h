//===- Generator.h - Random eltwise problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything follows from the seed and the number of a case.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_ELTWISE_GENERATOR_H
#define QUERN_CONFORMANCE_ELTWISE_GENERATOR_H

#include "Cases.h"
#include "DrawAttributes.h"
#include "Eltwise/Cells.h"

namespace quern::cases::eltwise {

/// Case `number` of a seed: the cells over and over.
Case drawCase(uint64_t seed, int64_t number);
/// What it is for.
const Cell &cellOf(int64_t number);

std::span<const Mistake> mistakes();
/// Gives all tensors one type, and one layout where sizes are known: oneDNN has nothing else.
void adaptToPeer(Case &drawn);
/// As PrimitiveCases has them.
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_GENERATOR_H
