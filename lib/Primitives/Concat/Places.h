//===- Places.h - Where a concat's sources go -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sources that differ only in where they go are copied by one kernel. What else a kernel knows of the place is how far
// within a block of the destination it begins.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_CONCAT_PLACES_H
#define QUERN_PRIMITIVES_CONCAT_PLACES_H

#include "Desc/PrimitiveDesc.h"

namespace quern::concatenation {

/// Where one source begins.
struct Place {
  size_t source = 0;   ///< its position
  int64_t inBlock = 0; ///< its index along the axis past the last multiple of the destination's block
  int64_t offset = 0;  ///< of that block in the destination, in elements from the buffer's start; 0 if arePlacesOpen()
};

/// Whether an execution's sizes say where sources begin. The destination is plain then.
bool arePlacesOpen(const ConcatDesc &concat);

/// Of the sources that have elements, those of one kernel in one list: same type, layout, scaling and place within a
/// block.
std::vector<std::vector<Place>> kernelsOf(const ConcatDesc &concat, const Attributes &attr);

/// What one kernel sees of the destination: as many indices along the axis as the source has, from the start of the
/// block it begins in, at offset 0; where places are open at the destination's. Its padding is whatever follows in the
/// destination.
TensorDesc viewOf(const ConcatDesc &concat, const Place &place);

} // namespace quern::concatenation

#endif // QUERN_PRIMITIVES_CONCAT_PLACES_H
