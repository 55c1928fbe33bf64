//===- Places.h - Positions of a concat's sources in its destination ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sources that differ only in their position in the destination share a kernel if they start at the same index within a
// block of the destination. The kernel gets the rest of the position as an offset.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_CONCAT_PLACES_H
#define QUERN_PRIMITIVES_CONCAT_PLACES_H

#include "Desc/PrimitiveDesc.h"

namespace quern::concatenation {

/// Start of one source in the destination.
struct SourcePlace {
  size_t source = 0;   ///< position in ConcatDesc::srcs
  int64_t inBlock = 0; ///< start index along the axis, modulo the destination's block size
  int64_t offset = 0;  ///< offset of that block in the destination's buffer, in elements; 0 if hasOpenPlaces()
};

/// Returns true if the start positions depend on sizes known only at execution. The destination is plain then.
bool hasOpenPlaces(const ConcatDesc &concat);

/// Groups the non-empty sources by kernel: those of a group have the same type, dims, layout, scaling and start
/// within a block.
std::vector<std::vector<SourcePlace>> kernelsOf(const ConcatDesc &concat, const Attributes &attr);

/// Returns the destination as a kernel sees it. Along the axis it extends from the start of the block in which the
/// source starts to the end of the source. Its offset is 0, or the destination's offset if hasOpenPlaces(). The rest of
/// its last block counts as padding.
TensorDesc viewOf(const ConcatDesc &concat, const SourcePlace &place);

} // namespace quern::concatenation

#endif // QUERN_PRIMITIVES_CONCAT_PLACES_H
