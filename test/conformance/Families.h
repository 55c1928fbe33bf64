//===- Families.h - Families of layouts -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Families of layouts, by which elementwise primitives count coverage.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_FAMILIES_H
#define QUERN_CONFORMANCE_FAMILIES_H

#include "Layouts.h"

#include <string_view>

namespace quern {

/// The special property of the layouts of a problem, of one tensor or of several.
enum class LayoutFamily {
  Plain,     ///< dense row-major
  Permuted,  ///< dense, in any order of the dims
  Gapped,    ///< with gaps and offsets
  Submemory, ///< a part of a larger tensor, blocked or not
  Blocked,   ///< one inner block
  Blocks,    ///< inner blocks of two dims
  Nested,    ///< two inner blocks of one dim around a block of another
  Uneven,    ///< a dim is blocked on both sides, and no block size divides the other or the dim
  Padded,    ///< partial blocks, or padding without a block
  Broadcast, ///< a source has stride 0 along some dim
  Runtime,   ///< open sizes, strides or offsets
};
inline constexpr LayoutFamily allFamilies[] = {LayoutFamily::Plain,     LayoutFamily::Permuted, LayoutFamily::Gapped,
                                               LayoutFamily::Submemory, LayoutFamily::Blocked,  LayoutFamily::Blocks,
                                               LayoutFamily::Nested,    LayoutFamily::Uneven,   LayoutFamily::Padded,
                                               LayoutFamily::Broadcast, LayoutFamily::Runtime};

std::string_view nameOf(LayoutFamily family);

/// Draws dims of any rank, with up to `budget` elements and sizes around every vector width; one in 50 is empty.
Dims drawShape(Random &random, int64_t minRank, int64_t maxRank, double budget);

/// Draws one tensor of a family other than Runtime and Broadcast. A tensor of half bytes that is written has no gaps,
/// so it is of another family if necessary.
TensorDesc drawSide(Random &random, LayoutFamily family, const Dims &dims, DataType type, bool isWritten);
/// Draws a tensor that is simple in most respects.
TensorDesc drawSimple(Random &random, const Dims &dims, DataType type);

/// Blocks of one dim, neither of which divides the other.
struct UnevenBlocks {
  int64_t src, dst;
};
UnevenBlocks drawUneven(Random &random);
/// Draws a tensor with a block of `dim`, and sometimes a block of another dim inside or around it.
TensorDesc drawUnevenSide(Random &random, const Dims &dims, DataType type, int dim, int64_t block);

/// Returns true if the family's tensors have gaps between elements.
bool hasGaps(LayoutFamily family);

} // namespace quern

#endif // QUERN_CONFORMANCE_FAMILIES_H
