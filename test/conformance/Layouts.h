//===- Layouts.h - Random layouts of one tensor ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the families of layouts of each primitive are made of.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_LAYOUTS_H
#define QUERN_CONFORMANCE_LAYOUTS_H

#include "Desc/PrimitiveDesc.h"
#include "Random.h"

#include <string>

namespace quern {

using Dims = std::vector<int64_t>;

/// A layout that the generator made must be legal: otherwise the program says so and ends.
TensorDesc taken(Result<TensorDesc> desc);

/// At most `most`: around every vector width of every instruction set, and around the blocks of long sums.
int64_t drawExtent(Random &random, int64_t most);
int drawDim(Random &random, const Dims &dims);

struct PlainDraw {
  bool permuted = false;
  bool gaps = false; ///< some with an offset
  bool broadcast = false;
};
TensorDesc drawPlain(Random &random, const Dims &dims, DataType type, PlainDraw draw);

/// Inner blocks of a layout, outermost first: dim and size.
using Blocks = std::vector<std::pair<int, int64_t>>;

int64_t drawBlock(Random &random);
/// Two or three inner blocks of `axis` and `other`, which may be the same dim.
Blocks drawSeveralBlocks(Random &random, int axis, int other);
/// The order of the outer dims is random in one of three.
TensorDesc drawBlocked(Random &random, const Dims &dims, DataType type, const Blocks &blocks);
/// Blocks that do not divide, or padding without a block.
TensorDesc drawPadded(Random &random, const Dims &dims, DataType type);
/// The part with these dims of a larger tensor, which has these inner blocks.
TensorDesc drawSubmemory(Random &random, const Dims &dims, DataType type, const Blocks &blocks);
/// A tensor that is read, with any plain or blocked layout.
TensorDesc drawOperand(Random &random, const Dims &dims, DataType type);

/// Plain tensors with the sizes left to execution, and what they are in this execution.
struct RuntimeTensors {
  std::vector<TensorDesc> open, actual;
  std::vector<bool> isOpen; ///< the dims that are `?` in all of them
};
struct RuntimeTensor {
  TensorDesc open, actual;
};
/// One of them, its dims in the order of `tag` or with gaps in any order.
RuntimeTensor drawRuntimeTensor(Random &random, const Dims &dims, const std::vector<bool> &isOpen, DataType type,
                                const std::string &tag, bool hasGaps);
RuntimeTensors drawRuntimeTensors(Random &random, const Dims &dims, const std::vector<DataType> &types);

/// Appends the values of the open sizes of a tensor in the order of the text: its dims, its strides where no
/// tag says them, its offset.
void appendSizes(const TensorDesc &open, const TensorDesc &actual, std::vector<int64_t> &sizes);

} // namespace quern

#endif // QUERN_CONFORMANCE_LAYOUTS_H
