//===- Generator.h - Random binary problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems walk through the cells of Cells.h and draw the rest: rank, sizes around every vector width, order of dims,
// gaps, blocks, masks, operands, data, layouts left to the library, the type of a condition.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_BINARY_GENERATOR_H
#define QUERN_CONFORMANCE_BINARY_GENERATOR_H

#include "Binary/Cells.h"
#include "Cases.h"
#include "DrawAttributes.h"

namespace quern::cases::binary {

/// Case `number` of a seed; the cells over and over.
Case drawCase(uint64_t seed, int64_t number);
const Cell &cellOf(int64_t number);
const Types &typesOf(int64_t number);

std::span<const Mistake> mistakes();

/// Whether post-ops may lead to this value of the element.
bool isPossible(const PeerComparison &with, size_t element, double value);
/// What genuine oneDNN does differently (PrimitiveCases); docs/primitives/binary.md has the list.
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::binary

#endif // QUERN_CONFORMANCE_BINARY_GENERATOR_H
