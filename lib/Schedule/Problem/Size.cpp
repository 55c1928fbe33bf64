//===- Size.cpp - Sizes that are known at run time only ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Size.h.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Size.h"

#include "IR/QuernDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace quern::rows;

ArgumentSizes::ArgumentSizes(func::FuncOp problem) {
  if (auto given = problem->getAttrOfType<DenseI64ArrayAttr>(quern::attr::sizeIndices))
    indices.assign(given.asArrayRef().begin(), given.asArrayRef().end());
  for (Type type : problem.getArgumentTypes()) {
    firstOf.push_back(total);
    auto memref = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!memref || failed(memref.getStridesAndOffset(strides, offset)))
      continue;
    total += memref.getNumDynamicDims() + llvm::count_if(strides, ShapedType::isDynamic) + (ShapedType::isDynamic(offset) ? 1 : 0);
  }
}

int64_t ArgumentSizes::indexOf(int64_t own) const { return own < static_cast<int64_t>(indices.size()) ? indices[own] : own; }

ArgumentSizes::Layout ArgumentSizes::layoutOf(Value memref) const {
  auto type = cast<MemRefType>(memref.getType());
  auto argument = dyn_cast<BlockArgument>(memref);
  auto [strides, offset] = type.getStridesAndOffset();
  Layout layout{llvm::SmallVector<int64_t, 6>(type.getShape()), llvm::SmallVector<int64_t, 6>(strides), offset};
  for (auto [extent, stride] : llvm::zip_equal(layout.shape, layout.strides)) {
    if (extent == 1)
      stride = 0; // it leads nowhere, however large it is
    layout.fits &= extent < leastOpenSize && stride < leastOpenSize;
  }
  layout.fits &= offset < leastOpenSize;
  int64_t next = argument ? firstOf[argument.getArgNumber()] : 0;
  for (int64_t &extent : layout.shape)
    if (ShapedType::isDynamic(extent) && argument)
      extent = openSize(indexOf(next++));
  for (auto [d, stride] : llvm::enumerate(strides))
    if (ShapedType::isDynamic(stride))
      layout.strides[d] = argument ? openSize(indexOf(next++)) : type.getRank() - static_cast<int64_t>(d);
  if (ShapedType::isDynamic(offset))
    layout.offset = argument ? openSize(indexOf(next)) : 0;
  return layout;
}
