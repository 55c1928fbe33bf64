//===- Layouts.h - Random layouts of one tensor ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layouts of one tensor, which the layout families of each primitive combine.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_LAYOUTS_H
#define QUERN_CONFORMANCE_LAYOUTS_H

#include "Desc/PrimitiveDesc.h"
#include "Random.h"

#include <string>

namespace quern {

using Dims = std::vector<int64_t>;

/// Returns a layout of the generator. An invalid one is a bug: the program prints it and exits.
TensorDesc legalLayout(Result<TensorDesc> desc);

/// Draws a size of at most `max`, often next to a vector width of some instruction set or to a block of long sums.
int64_t drawExtent(Random &random, int64_t max);
int drawDim(Random &random, const Dims &dims);

struct PlainDraw {
  bool permuted = false;
  bool gaps = false; ///< sometimes with an offset
  bool broadcast = false;
};
TensorDesc drawPlain(Random &random, const Dims &dims, DataType type, PlainDraw draw);

/// Inner blocks of a layout, outermost first: dim and size.
using Blocks = std::vector<std::pair<int, int64_t>>;

int64_t drawBlock(Random &random);
/// Draws two or three inner blocks of `axis` and `other`, which may be the same dim.
Blocks drawSeveralBlocks(Random &random, int axis, int other);
/// Draws a layout with these inner blocks; in one of three cases the order of the outer dims is random.
TensorDesc drawBlocked(Random &random, const Dims &dims, DataType type, const Blocks &blocks);
/// Draws partial blocks, or padding without a block.
TensorDesc drawPadded(Random &random, const Dims &dims, DataType type);
/// Draws a part with these dims of a larger tensor with these inner blocks.
TensorDesc drawSubmemory(Random &random, const Dims &dims, DataType type, const Blocks &blocks);
/// Draws any plain or blocked layout for a tensor that is only read.
TensorDesc drawOperand(Random &random, const Dims &dims, DataType type);

/// Plain tensors with open sizes, and the same tensors with the sizes of this execution.
struct RuntimeTensors {
  std::vector<TensorDesc> open, actual;
  std::vector<bool> isOpen; ///< dims that are `?` in all of them
};
struct RuntimeTensor {
  TensorDesc open, actual;
};
/// Draws one tensor of RuntimeTensors; its dims are in the order of `tag`, or have gaps in any order.
RuntimeTensor drawRuntimeTensor(Random &random, const Dims &dims, const std::vector<bool> &isOpen, DataType type,
                                const std::string &tag, bool hasGaps);
RuntimeTensors drawRuntimeTensors(Random &random, const Dims &dims, const std::vector<DataType> &types);

/// Appends the values of the open sizes of a tensor in the order of the text: its dims, its strides if there is no tag,
/// and its offset.
void appendSizes(const TensorDesc &open, const TensorDesc &actual, std::vector<int64_t> &sizes);

} // namespace quern

#endif // QUERN_CONFORMANCE_LAYOUTS_H
