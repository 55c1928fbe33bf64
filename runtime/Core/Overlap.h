//===- Overlap.h - Whether two tensors share bytes -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel reads and writes in an order of its own, so that a destination must be apart from every source, or be the
// source itself, element for element, where the primitive allows that. Tensors in one buffer whose elements interleave,
// as two halves of a matrix's columns do, are apart.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_OVERLAP_H
#define QUERN_RUNTIME_CORE_OVERLAP_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

/// Bytes from the buffer's start to the first element.
int64_t firstByteOf(const TensorDesc &desc);

/// Whether every byte from the first element to the end of the buffer is an element's or padding's, once. The
/// descriptor may have runtime sizes: then that is not known.
bool isWithoutGaps(const TensorDesc &desc);

/// A tensor and its buffer. The descriptor has no runtime sizes.
struct PlacedTensor {
  const TensorDesc &desc;
  const void *data;
};

/// Whether the two have the same elements at the same places, if not of the same type: what one iteration reads of the
/// one lies where it writes the other.
bool areInPlace(const PlacedTensor &a, const PlacedTensor &b);

/// Whether a kernel made for these layouts, which may have runtime sizes, was made knowing that they may be one: equal
/// fields, but for strides and offsets that are open in either.
bool mayBeInPlace(const TensorDesc &a, const TensorDesc &b);

/// Whether some byte belongs to an element or to padding of both; to their compensation as well. Exact, except that
/// tensors of which that is hard to tell, and elements of 4 bits side by side, are taken to share one.
bool shareBytes(const PlacedTensor &a, const PlacedTensor &b);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_OVERLAP_H
