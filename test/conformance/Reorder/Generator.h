//===- Generator.h - Random reorder problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems iterate over the cells of Cells.h. The generator draws the rest: rank, sizes around every vector width,
// order of dims, gaps, blocks, masks, groups, operands, data.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_REORDER_GENERATOR_H
#define QUERN_CONFORMANCE_REORDER_GENERATOR_H

#include "Cases.h"
#include "DrawAttributes.h"
#include "Reorder/Cells.h"

namespace quern::cases::reorder {

/// Returns case `number` of a seed; the cells repeat.
Case drawCase(uint64_t seed, int64_t number);
/// For devices: places src or dst on the CPU's engine with a probability of one half. Such a case is never in place;
/// the others are unchanged.
void drawEngines(uint64_t seed, Case &drawn);
const Cell &cellOf(int64_t number);
/// Draws a rank and size that are possible for the cell.
Dims drawShape(Random &random, const Cell &cell);

/// src and dst of a family other than Runtime; one or both of them are of the family.
struct Sides {
  TensorDesc src, dst;
};
Sides drawSides(Random &random, LayoutFamily family, const Dims &dims, DataType from, DataType to);
/// Draws attributes of a class; its extras are added to `sides.dst`.
AttributesDraw drawAttributes(Random &random, AttributeClass attribute, Sides &sides, const OperandShape &shape);

std::span<const Mistake> mistakes();

/// Gives one in two cases types and attributes that oneDNN supports: types of at least 8 bits, f32 scales, s32 zero
/// points, sums.
void adaptToPeer(Case &drawn);
/// Known differences of oneDNN (PrimitiveCases); docs/primitives/reorder.md has the list.
std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer);
Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs);

} // namespace quern::cases::reorder

#endif // QUERN_CONFORMANCE_REORDER_GENERATOR_H
