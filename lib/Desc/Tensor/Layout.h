//===- Layout.h - Order of dims and dense strides -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What construction, tags, checks and reshapes of TensorDesc share. Internal to lib/Desc; a descriptor given to these
// functions has a rank of at most maxDims and positive inner blocks.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TENSOR_LAYOUT_H
#define QUERN_DESC_TENSOR_LAYOUT_H

#include "Desc/Tensor/TensorDesc.h"
#include "Support/CheckedMath.h"

#include <algorithm>

namespace quern::layout {

/// `ndims`, within the arrays whatever the descriptor says.
inline int rankOf(const TensorDesc &desc) { return std::clamp(desc.ndims, 0, maxDims); }

/// `innerBlockCount`, likewise.
inline int blockCountOf(const TensorDesc &desc) { return std::clamp(desc.innerBlockCount, 0, maxDims); }

/// Number of blocks along each dim: paddedDims[d] / B_d, 1 for part of a block; runtimeDim where not known.
void outerExtents(const TensorDesc &desc, int64_t (&extents)[maxDims]);

/// Elements of one whole inner block.
CheckedInt innerElements(const TensorDesc &desc);

/// The dims by decreasing stride. Of equal strides the larger extent is the outer one, then the lower dim.
void orderOfDims(const TensorDesc &desc, int (&outermostFirst)[maxDims]);

/// Starts a blocked descriptor: rank, type, dims; dims are checked, strides and blocks are still to be given.
Result<TensorDesc> startBlocked(std::span<const int64_t> dims, DataType type);

/// Sets paddedDims to multiples of the blocks and strides that leave no gaps, for this order of the dims.
Result<void> setDense(TensorDesc &desc, std::span<const int> outermostFirst);

/// Elements that a buffer needs for the data, offset0 included. Runtime values count as nothing.
CheckedInt footprint(const TensorDesc &desc);

/// Bytes of that many elements.
CheckedInt bytesOfElements(CheckedInt elements, DataType type);

/// Bytes of the compensation buffers that follow the data.
CheckedInt compensationBytes(const TensorDesc &desc);

/// "8x128x?".
std::string textOfDims(std::span<const int64_t> dims);

} // namespace quern::layout

#endif // QUERN_DESC_TENSOR_LAYOUT_H
