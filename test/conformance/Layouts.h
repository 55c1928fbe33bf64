//===- Layouts.h - Random tensors of every family of layouts --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family decides what the tensors of one problem have in common. Tensors that are only read may broadcast; the one that is written has
// padding where its family is about padding.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_LAYOUTS_H
#define QUERN_CONFORMANCE_LAYOUTS_H

#include "Cells.h"
#include "Random.h"

namespace quern {

/// Draws the layouts of a problem's tensors: `types[i]` is the type of tensor i, of which the last is written. Not for runtime layouts.
std::vector<TensorDesc> drawTensors(Random &random, LayoutFamily family, const std::vector<int64_t> &dims, int axis,
                                    const std::vector<DataType> &types);

/// A tensor that is read, with any plain or blocked layout.
TensorDesc drawOperand(Random &random, const std::vector<int64_t> &dims, DataType type);

/// Plain tensors with the sizes left to execution, and what they are in this execution.
struct RuntimeTensors {
  std::vector<TensorDesc> open, actual;
  std::vector<bool> isOpen; ///< the dims that are `?` in all of them
};
RuntimeTensors drawRuntimeTensors(Random &random, const std::vector<int64_t> &dims, const std::vector<DataType> &types);

} // namespace quern

#endif // QUERN_CONFORMANCE_LAYOUTS_H
