//===- Loops.h - The dims of several tensors, taken together --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_TIERS_LOOPS_H
#define QUERN_RUNTIME_TIERS_LOOPS_H

#include "Desc/Tensor/TensorDesc.h"

#include <optional>
#include <vector>

namespace quern {

/// One dim of all tensors of an operation, or a block of one.
struct Loop {
  int64_t size = 1;
  bool isKept = false;             ///< a loop of its own, even of one element: an axis, or what scales tell apart
  std::vector<int64_t> strides{};  ///< of each tensor, in elements
  std::vector<bool> isBroadcast{}; ///< the tensor has one element along it, others have more
  bool isFew = false;              ///< its size is not open
  std::vector<int64_t> joined{};   ///< where tensors follow one another along it: the size of each; else empty
  /// Of one tensor.
  int64_t sizeIn(size_t tensor) const { return joined.empty() ? size : joined[tensor]; }
};

/// A dim that is not merged with those outside of it.
struct KeptDim {
  int32_t dim = -1;          ///< -1: there is none
  bool joinsTensors = false; ///< the last tensor has the others one after the other along it
};

/// Every element of the buffer that the layout reaches is one of the tensor, and all sizes are known.
bool isOrdinary(const TensorDesc &tensor);

/// The loops over `tensors`, which are of one shape but for dims of one element, from the largest stride of the last
/// tensor to the smallest. Blocks of a layout are loops of their own; what is a run of memory in every tensor is one
/// loop, but for the kept dim, which takes up no other, or, where it joins tensors, those inside of it alone. Nothing
/// for tensors that are not ordinary, whose blocks do not divide one another, or with blocks along a kept dim, unless
/// it joins tensors of whole blocks.
std::optional<std::vector<Loop>> loopsOf(const std::vector<TensorDesc *> &tensors, KeptDim kept);

/// One that all tensors have one element along, in front of the others.
Loop emptyLoop(const std::vector<Loop> &loops, size_t tensors);

} // namespace quern

#endif // QUERN_RUNTIME_TIERS_LOOPS_H
