//===- Layouts.cpp - Layouts of the two sides of a reorder ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The family applies to one side or both; the other side then has a simple layout.
//
//===----------------------------------------------------------------------===//
#include "Reorder/Generator.h"

namespace quern::cases::reorder {

Sides drawSides(Random &random, LayoutFamily family, const Dims &dims, DataType from, DataType to) {
  if (family == LayoutFamily::Broadcast)
    return {drawPlain(random, dims, from, {random.oneIn(3), false, true}), drawSimple(random, dims, to)};
  if (family == LayoutFamily::Uneven) {
    int dim = drawDim(random, dims);
    UnevenBlocks blocks = drawUneven(random);
    return {drawUnevenSide(random, dims, from, dim, blocks.src), drawUnevenSide(random, dims, to, dim, blocks.dst)};
  }
  bool isOnBoth = family == LayoutFamily::Plain || random.oneIn(3), isOnSrc = isOnBoth || random.oneIn(2);
  if (hasGaps(family) && bitsOf(to) < 8) // the two elements of a byte cannot be written separately
    isOnBoth = false, isOnSrc = true;
  TensorDesc src = isOnSrc ? drawSide(random, family, dims, from, /*isWritten=*/false) : drawSimple(random, dims, from);
  TensorDesc dst =
      isOnBoth || !isOnSrc ? drawSide(random, family, dims, to, /*isWritten=*/true) : drawSimple(random, dims, to);
  // The same layout on both sides, like a plain conversion or a reorder in place.
  if (isOnBoth && random.oneIn(2)) {
    dst = src;
    dst.dataType = to;
  }
  return {src, dst};
}

} // namespace quern::cases::reorder
