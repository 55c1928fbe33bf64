//===- Generator.h - Random binary problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems iterate over the cells of Cells.h. The generator draws the rest: rank, sizes around every vector width,
// order of dims, gaps, blocks, masks, operands, data, `any` layouts and the type of a condition.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_BINARY_GENERATOR_H
#define QUERN_CONFORMANCE_BINARY_GENERATOR_H

#include "Binary/Cells.h"
#include "Cases.h"
#include "DrawAttributes.h"

namespace quern::cases::binary {

/// Returns case `number` of a seed; the cells repeat.
Case drawCase(uint64_t seed, int64_t number);
const Cell &cellOf(int64_t number);
const Types &typesOf(int64_t number);

std::span<const Mistake> mistakes();

/// Returns true if post-ops may compute this value of the element.
bool isPossible(const PeerComparison &with, size_t element, double value);
/// Known differences of oneDNN (PrimitiveCases); docs/primitives/binary.md has the list.
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::binary

#endif // QUERN_CONFORMANCE_BINARY_GENERATOR_H
