//===- Strides.cpp - The strides of a memref ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "IR/Strides.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

std::optional<quern::Strides> quern::readStrides(MemRefType type) {
  Strides found;
  if (!type.getLayout().isIdentity() || llvm::is_contained(type.getShape(), 0)) {
    if (failed(type.getStridesAndOffset(found.strides, found.offset)))
      return std::nullopt;
    return found;
  }
  int64_t stride = 1;
  for (int64_t extent : llvm::reverse(type.getShape())) {
    found.strides.push_back(stride);
    stride = ShapedType::isDynamic(extent) || ShapedType::isDynamic(stride) ? ShapedType::kDynamic : stride * extent;
  }
  std::reverse(found.strides.begin(), found.strides.end());
  return found;
}
