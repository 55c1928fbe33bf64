//===- Layout.h - Order of dims and dense strides -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Helpers shared by construction, tags, checks and reshapes of TensorDesc. Internal to lib/Desc; a descriptor passed to
// these functions has a rank of at most maxDims and positive inner blocks.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TENSOR_LAYOUT_H
#define QUERN_DESC_TENSOR_LAYOUT_H

#include "Desc/Tensor/TensorDesc.h"
#include "Support/CheckedMath.h"

#include <algorithm>

namespace quern::layout {

/// Returns `ndims`, clamped to the size of the arrays.
inline int rankOf(const TensorDesc &desc) { return std::clamp(desc.ndims, 0, maxDims); }

/// Returns `innerBlockCount`, clamped to the size of the arrays.
inline int blockCountOf(const TensorDesc &desc) { return std::clamp(desc.innerBlockCount, 0, maxDims); }

/// Computes the number of blocks along each dim: paddedDims[d] / B_d, rounded up; runtimeDim if it is unknown.
void outerExtents(const TensorDesc &desc, int64_t (&extents)[maxDims]);

/// Returns the number of elements of one whole inner block.
CheckedInt innerElements(const TensorDesc &desc);

/// Sorts the dims by decreasing stride. If strides are equal, the larger extent comes first, then the lower dim.
void orderOfDims(const TensorDesc &desc, int (&outermostFirst)[maxDims]);

/// Returns a blocked descriptor with rank, type and checked dims; strides and blocks must still be set.
Result<TensorDesc> startBlocked(std::span<const int64_t> dims, DataType type);

/// Sets paddedDims to multiples of the blocks, and strides without gaps for this order of the dims.
Result<void> setDense(TensorDesc &desc, std::span<const int> outermostFirst);

/// Returns the number of elements that a buffer needs for the data, including offset0. Runtime values count as 0.
CheckedInt footprint(const TensorDesc &desc);

/// Returns the bytes of this number of elements.
CheckedInt bytesOfElements(CheckedInt elements, DataType type);

/// Returns the bytes of the compensation buffers that follow the data.
CheckedInt compensationBytes(const TensorDesc &desc);

/// Returns a text such as "8x128x?".
std::string textOfDims(std::span<const int64_t> dims);

} // namespace quern::layout

#endif // QUERN_DESC_TENSOR_LAYOUT_H
