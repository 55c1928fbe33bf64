//===- StridesTest.cpp - Strides of memrefs -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "IR/Strides.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace quern;

namespace {

void expectAlike(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  const bool hasStrides = succeeded(type.getStridesAndOffset(strides, offset));
  const std::optional<Strides> found = readStrides(type);
  ASSERT_EQ(found.has_value(), hasStrides);
  if (!hasStrides)
    return;
  EXPECT_EQ(found->strides, strides);
  EXPECT_EQ(found->offset, offset);
}

TEST(Strides, MatchMlirForDenseMemrefs) {
  MLIRContext context;
  std::mt19937 engine(1);
  for (int i = 0; i < 2000; ++i) {
    SmallVector<int64_t> shape(engine() % 6);
    for (int64_t &extent : shape)
      extent = engine() % 5 == 0 ? ShapedType::kDynamic : static_cast<int64_t>(engine() % 5);
    SCOPED_TRACE(i);
    expectAlike(MemRefType::get(shape, Float32Type::get(&context)));
  }
}

TEST(Strides, MatchMlirForOtherLayouts) {
  MLIRContext context;
  const Type element = Float32Type::get(&context);
  for (int64_t stride : {int64_t(1), int64_t(12), ShapedType::kDynamic})
    for (int64_t offset : {int64_t(0), int64_t(5), ShapedType::kDynamic})
      expectAlike(MemRefType::get({3, 4}, element, StridedLayoutAttr::get(&context, offset, {stride, 2})));
  AffineExpr row = getAffineDimExpr(0, &context), column = getAffineDimExpr(1, &context);
  expectAlike(MemRefType::get({3, 4}, element, AffineMap::get(2, 0, {column, row}, &context)));
  expectAlike(MemRefType::get({3, 4}, element, AffineMap::get(2, 0, {row * 8 + column * 2 + 1}, &context)));
  expectAlike(MemRefType::get({3, 4}, element, AffineMap::get(2, 0, {row.floorDiv(2), column}, &context)));
}

} // namespace
