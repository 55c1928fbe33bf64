//===- Generator.h - Random reorder problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems walk through the cells of Cells.h and draw the rest: rank, sizes around every vector width, order of dims,
// gaps, blocks, masks, groups, operands, data.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_REORDER_GENERATOR_H
#define QUERN_CONFORMANCE_REORDER_GENERATOR_H

#include "Cases.h"
#include "DrawAttributes.h"
#include "Reorder/Cells.h"

namespace quern::cases::reorder {

/// Case `number` of a seed; the cells over and over.
Case drawCase(uint64_t seed, int64_t number);
/// For a device: one case in two gets src or dst on the CPU's engine. What else there is of the case stays,
/// but for sharing a buffer.
void drawEngines(uint64_t seed, Case &drawn);
const Cell &cellOf(int64_t number);
/// Of a rank and size that go with the cell.
Dims drawShape(Random &random, const Cell &cell);

/// src and dst of a family that is not Runtime, on one side or both.
struct Sides {
  TensorDesc src, dst;
};
Sides drawSides(Random &random, LayoutFamily family, const Dims &dims, DataType from, DataType to);
/// Attributes of a class; extras that go with it are added to `sides.dst`.
AttributesDraw drawAttributes(Random &random, AttributeClass attribute, Sides &sides, const OperandShape &shape);

std::span<const Mistake> mistakes();

/// What genuine oneDNN does differently (PrimitiveCases); docs/primitives/reorder.md has the list.
/// Gives one case of two types and attributes that oneDNN has: types of 8 bits and more, scales of f32,
/// zero points of s32, sums.
void adaptToPeer(Case &drawn);
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::reorder

#endif // QUERN_CONFORMANCE_REORDER_GENERATOR_H
