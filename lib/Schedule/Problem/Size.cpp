//===- Size.cpp - Sizes that may be known only at run time ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Size.h"

#include "IR/QuernDialect.h"
#include "IR/Strides.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace quern::schedule;

ArgumentSizes::ArgumentSizes(func::FuncOp problem) {
  if (auto given = problem->getAttrOfType<DenseI64ArrayAttr>(quern::attr::sizeIndices))
    indices.assign(given.asArrayRef().begin(), given.asArrayRef().end());
  for (Type type : problem.getArgumentTypes()) {
    firstOf.push_back(total);
    auto memref = dyn_cast<MemRefType>(type);
    std::optional<quern::Strides> layout = memref ? quern::readStrides(memref) : std::nullopt;
    if (!layout)
      continue;
    total += memref.getNumDynamicDims() + llvm::count_if(layout->strides, ShapedType::isDynamic) +
             (ShapedType::isDynamic(layout->offset) ? 1 : 0);
  }
}

Size ArgumentSizes::open(int64_t own) const {
  return Size::open(own < static_cast<int64_t>(indices.size()) ? indices[own] : own);
}

ArgumentSizes::Layout ArgumentSizes::layoutOf(Value memref) const {
  auto type = cast<MemRefType>(memref.getType());
  auto argument = dyn_cast<BlockArgument>(memref);
  auto [strides, offset] = quern::stridesOf(type);
  int64_t next = argument ? firstOf[argument.getArgNumber()] : 0;
  Layout layout;
  auto read = [&](int64_t number, Size ofIntermediate) -> Size {
    if (ShapedType::isDynamic(number))
      return argument ? open(next++) : ofIntermediate;
    layout.fits &= number < endOfNumbers;
    return number;
  };
  for (int64_t extent : type.getShape())
    layout.shape.push_back(read(extent, Size::untold()));
  for (auto [d, stride] : llvm::enumerate(strides)) // a dim of size 1 never uses its stride, however large
    layout.strides.push_back(!ShapedType::isDynamic(stride) && type.getDimSize(d) == 1
                                 ? Size()
                                 : read(stride, type.getRank() - static_cast<int64_t>(d)));
  layout.offset = read(offset, Size());
  return layout;
}
