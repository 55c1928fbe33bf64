//===- Families.h - Families of layouts -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What elementwise primitives count their layouts by.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_FAMILIES_H
#define QUERN_CONFORMANCE_FAMILIES_H

#include "Layouts.h"

#include <string_view>

namespace quern {

/// What is particular about the layouts of a problem: of one tensor, or of several.
enum class LayoutFamily {
  Plain,     ///< dense row-major
  Permuted,  ///< dense, in any order of the dims
  Gapped,    ///< with gaps and offsets
  Submemory, ///< a part of a larger tensor, blocked or not
  Blocked,   ///< one inner block
  Blocks,    ///< inner blocks of two dims
  Nested,    ///< two inner blocks of one dim, around another's
  Uneven,    ///< a dim is blocked on both sides, and the blocks divide neither it nor each other
  Padded,    ///< blocks that do not divide, or padding without a block
  Broadcast, ///< a source has stride 0 along some dim
  Runtime,   ///< sizes, strides or offsets that are given at execution
};
inline constexpr LayoutFamily allFamilies[] = {LayoutFamily::Plain,     LayoutFamily::Permuted, LayoutFamily::Gapped,
                                               LayoutFamily::Submemory, LayoutFamily::Blocked,  LayoutFamily::Blocks,
                                               LayoutFamily::Nested,    LayoutFamily::Uneven,   LayoutFamily::Padded,
                                               LayoutFamily::Broadcast, LayoutFamily::Runtime};

std::string_view nameOf(LayoutFamily family);

/// Of any rank and size up to `budget` elements, sizes around every vector width; one in 50 has no element.
Dims drawShape(Random &random, int64_t leastRank, int64_t mostRank, double budget);

/// One tensor of a family that a single tensor can be of: neither Runtime nor Broadcast. Of a type of half bytes it is
/// written only without gaps, and of another family then.
TensorDesc drawSide(Random &random, LayoutFamily family, const Dims &dims, DataType type, bool isWritten);
/// One that is in most respects simple.
TensorDesc drawSimple(Random &random, const Dims &dims, DataType type);

/// Blocks of one dim that do not divide each other.
struct UnevenBlocks {
  int64_t src, dst;
};
UnevenBlocks drawUneven(Random &random);
/// Sometimes with a block of another dim inside or around.
TensorDesc drawUnevenSide(Random &random, const Dims &dims, DataType type, int dim, int64_t block);

/// Whether elements of the family's tensors lie apart.
bool hasGaps(LayoutFamily family);

} // namespace quern

#endif // QUERN_CONFORMANCE_FAMILIES_H
