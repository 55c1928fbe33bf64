//===- Layouts.cpp - Layouts of the tensors of a softmax problem ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family determines the common property of the tensors of a problem. Tensors that are only read may broadcast; the
// output has padding if the family is about padding.
//
//===----------------------------------------------------------------------===//
#include "Softmax/Generator.h"

namespace quern::cases::softmax {
namespace {

Blocks drawBlocks(Random &random, LayoutFamily family, const Dims &dims, int axis) {
  int other = dims.size() > 1 ? static_cast<int>((axis + random.between(1, static_cast<int64_t>(dims.size()) - 1)) %
                                                 static_cast<int64_t>(dims.size()))
                              : axis;
  switch (family) {
  case LayoutFamily::BlockedOnAxis:
    return {{axis, drawBlock(random)}};
  case LayoutFamily::BlockedOffAxis:
    return {{other, drawBlock(random)}};
  default:
    return drawSeveralBlocks(random, axis, other);
  }
}

Blocks drawSubmemoryBlocks(Random &random, const Dims &dims, int axis) {
  if (random.oneIn(2))
    return {};
  return drawBlocks(random, random.pick({LayoutFamily::BlockedOnAxis, LayoutFamily::BlockedOffAxis}), dims, axis);
}

/// Draws a tensor of a family; `isRead` is true for tensors that are only read.
TensorDesc drawOne(Random &random, LayoutFamily family, const Dims &dims, int axis, DataType type, bool isRead) {
  switch (family) {
  case LayoutFamily::Dense:
    return drawPlain(random, dims, type, {});
  case LayoutFamily::Permuted:
    return drawPlain(random, dims, type, {true, false, false});
  case LayoutFamily::Gapped:
    return drawPlain(random, dims, type, {false, true, false});
  case LayoutFamily::Mixed:
    return drawPlain(random, dims, type, {true, random.oneIn(2), false});
  case LayoutFamily::Broadcast:
    return drawPlain(random, dims, type, {random.oneIn(3), false, isRead});
  case LayoutFamily::Padded:
    return drawPadded(random, dims, type);
  case LayoutFamily::Submemory:
    return drawSubmemory(random, dims, type, drawSubmemoryBlocks(random, dims, axis));
  default:
    return drawBlocked(random, dims, type, drawBlocks(random, family, dims, axis));
  }
}

} // namespace

std::vector<TensorDesc> drawTensors(Random &random, LayoutFamily family, const Dims &dims, int axis,
                                    const std::vector<DataType> &types) {
  std::vector<TensorDesc> tensors;
  bool isPlainOnAllSides =
      family == LayoutFamily::Dense || family == LayoutFamily::Permuted || family == LayoutFamily::Gapped;
  bool hasSeparateLayouts = family == LayoutFamily::Mixed || family == LayoutFamily::Broadcast;
  if (isPlainOnAllSides || (!hasSeparateLayouts && random.oneIn(2))) {
    TensorDesc shared = drawOne(random, family, dims, axis, types.back(), /*isRead=*/false);
    for (DataType type : types) {
      tensors.push_back(shared);
      tensors.back().dataType = type;
    }
    return tensors;
  }
  // At least one tensor is of the family: the output if it is about padding, else any.
  size_t sure = family == LayoutFamily::Padded
                    ? types.size() - 1
                    : static_cast<size_t>(random.between(0, static_cast<int64_t>(types.size()) - 1));
  for (size_t i = 0; i < types.size(); ++i) {
    bool isRead = i + 1 < types.size(), isPlain = !hasSeparateLayouts && i != sure && random.oneIn(2);
    tensors.push_back(isPlain ? drawPlain(random, dims, types[i], {random.oneIn(3), random.oneIn(4), false})
                              : drawOne(random, family, dims, axis, types[i], isRead));
  }
  return tensors;
}

} // namespace quern::cases::softmax
