//===- Overlap.h - Detecting overlapping tensors --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel reads and writes in its own order. A destination must therefore be disjoint from every source, or be
// identical to the source if the primitive allows that. Tensors in one buffer whose elements interleave, such as the
// two halves of a matrix's columns, are disjoint.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ENGINE_OVERLAP_H
#define QUERN_RUNTIME_ENGINE_OVERLAP_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

/// Returns the number of bytes from the start of the buffer to the first element.
int64_t firstByteOf(const TensorDesc &desc);

/// Returns true if every byte from the first element to the end of the buffer belongs to an element or padding element,
/// and no two elements overlap. Returns false if the descriptor has runtime sizes or extras.
bool isWithoutGaps(const TensorDesc &desc);

/// A tensor and its buffer. The descriptor has no runtime sizes.
struct PlacedTensor {
  const TensorDesc &desc;
  const void *data;
};

/// Returns true if the two tensors have the same elements at the same addresses, with types of equal size: an iteration
/// then reads an element from one tensor at the address at which it writes to the other.
bool areInPlace(const PlacedTensor &a, const PlacedTensor &b);

/// Returns true if a kernel for these layouts allows both to be one tensor. Layouts without runtime sizes must have the
/// same storage. Otherwise their dims must be equal, and each stride and the offset must be equal or open in one of
/// them.
bool mayBeInPlace(const TensorDesc &a, const TensorDesc &b);

/// Returns true if any byte belongs to an element, padding or compensation of both tensors. Tensors with compensation
/// and tensors of at least 2^56 bytes are compared by their byte ranges. Otherwise exact, except that it also returns
/// true if the search takes too long, and for adjacent 4-bit elements that share a byte.
bool shareBytes(const PlacedTensor &a, const PlacedTensor &b);

} // namespace quern

#endif // QUERN_RUNTIME_ENGINE_OVERLAP_H
