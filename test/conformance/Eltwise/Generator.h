//===- Generator.h - Random eltwise problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The seed and the number of a case determine it completely.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_ELTWISE_GENERATOR_H
#define QUERN_CONFORMANCE_ELTWISE_GENERATOR_H

#include "Cases.h"
#include "DrawAttributes.h"
#include "Eltwise/Cells.h"

namespace quern::cases::eltwise {

/// Returns case `number` of a seed; the cells repeat.
Case drawCase(uint64_t seed, int64_t number);
/// Returns the cell of a case.
const Cell &cellOf(int64_t number);

std::span<const Mistake> mistakes();
/// Gives all tensors one type, and one layout if sizes are known: oneDNN supports nothing else.
void adaptToPeer(Case &drawn);
/// Like the functions of PrimitiveCases.
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_GENERATOR_H
