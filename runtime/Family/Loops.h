//===- Loops.h - Common loops over the dims of several tensors ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_FAMILY_LOOPS_H
#define QUERN_RUNTIME_FAMILY_LOOPS_H

#include "Desc/Tensor/TensorDesc.h"

#include <optional>
#include <vector>

namespace quern {

/// One dim of all tensors of an operation, or a block of one.
struct Loop {
  int64_t size = 1;
  bool isKept = false;             ///< true for an axis or a dim with separate scales, which is not merged
  std::vector<int64_t> strides{};  ///< stride in each tensor, in elements
  std::vector<bool> isBroadcast{}; ///< true for each tensor with size 1 if others have more
  bool isFew = false;              ///< true if the size is known in the family
  std::vector<int64_t> joined{};   ///< sizes of the tensors that are concatenated along this dim; otherwise empty
  /// Returns the size in one tensor.
  int64_t sizeIn(size_t tensor) const { return joined.empty() ? size : joined[tensor]; }
};

/// A dim that is not merged with outer dims.
struct KeptDim {
  int32_t dim = -1;          ///< -1: none
  bool joinsTensors = false; ///< true if the last tensor concatenates the others along this dim
};

/// Returns true for a blocked layout without padding, extras, dims of 0 and open sizes.
bool isOrdinary(const TensorDesc &tensor);

/// Returns the loops over `tensors`, whose shapes may differ only in dims of size 1, in descending order of the last
/// tensor's strides. Blocks of a layout are separate loops. Loops that are one run of memory in every tensor are
/// merged. The kept dim is not merged with others, except with loops inside it if it joins tensors. Returns nullopt for
/// tensors that are not ordinary, for blocks that do not divide one another, and for blocks along the kept dim, unless
/// it joins tensors of whole blocks.
std::optional<std::vector<Loop>> loopsOf(const std::vector<TensorDesc *> &tensors, KeptDim kept);

/// Returns a loop of size 1 in all tensors, to be placed before the others.
Loop emptyLoop(const std::vector<Loop> &loops, size_t tensors);

} // namespace quern

#endif // QUERN_RUNTIME_FAMILY_LOOPS_H
