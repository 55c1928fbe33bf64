//===- TensorsTest.cpp - Descriptors as memrefs, maps and boxes -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests random blocked descriptors element by element: the map and the memref give the same offsets as offsetOf(), and
// the boxes contain every padding element once and nothing else.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emission/Padding.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

using Index = std::vector<int64_t>;

/// Draws up to three dims of at most 13, up to four inner blocks, outer strides in any order with gaps, and sometimes
/// whole blocks of padding.
TensorDesc randomBlocked(std::mt19937 &engine) {
  auto below = [&](int limit) { return static_cast<int>(engine() % static_cast<unsigned>(limit)); };
  TensorDesc desc;
  desc.ndims = 1 + below(3);
  desc.dataType = DataType::F32;
  desc.formatKind = FormatKind::Blocked;
  desc.offset0 = below(3) * 7;
  desc.innerBlockCount = below(5);
  int64_t stride = 1;
  for (int b = 0; b < desc.innerBlockCount; ++b) {
    desc.innerBlocks[b] = 1 + below(4);
    desc.innerIndices[b] = below(desc.ndims);
    stride *= desc.innerBlocks[b];
  }
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  std::vector<int> order;
  for (int d = 0; d < desc.ndims; ++d) {
    desc.dims[d] = 1 + below(13);
    int64_t count = (desc.dims[d] + blocks[d] - 1) / blocks[d];
    desc.paddedDims[d] = (count + (below(4) == 0)) * blocks[d];
    order.push_back(d);
  }
  std::shuffle(order.begin(), order.end(), engine);
  for (int d : order) {
    stride += below(3) == 0 ? 5 : 0;
    desc.strides[d] = stride;
    stride *= desc.paddedDims[d] / blocks[d];
  }
  return desc;
}

template <typename F> void forEachIndex(ArrayRef<int64_t> extents, F f) {
  Index index(extents.size());
  while (true) {
    f(index);
    int d = static_cast<int>(index.size()) - 1;
    while (d >= 0 && ++index[d] == extents[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

int64_t addressIn(MemRefType type, ArrayRef<int64_t> index) {
  auto [strides, offset] = type.getStridesAndOffset();
  for (auto [i, stride] : llvm::zip_equal(index, strides))
    offset += i * stride;
  return offset;
}

TEST(Tensors, MapsGiveTheAddressesOfElements) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::mt19937 engine(1);
  for (int i = 0; i < 300; ++i) {
    TensorDesc desc = randomBlocked(engine);
    ASSERT_TRUE(desc.validate()) << desc.validate().error().message;
    MemRefType type = memrefOf(desc, &context);
    AffineMap map = mapOf(desc, desc.shape(), &context);
    forEachIndex(desc.shape(), [&](const Index &index) {
      SmallVector<int64_t> place = map.compose(index);
      for (auto [digit, size] : llvm::zip_equal(place, type.getShape()))
        ASSERT_LT(digit, size);
      ASSERT_EQ(addressIn(type, place), desc.offsetOf(index));
    });
  }
}

TEST(Tensors, BroadcastDimsAreZeroInTheMap) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  TensorDesc desc = *TensorDesc::fromTag(std::vector<int64_t>{4, 1, 3}, DataType::BF16, "aBc16b");
  AffineExpr zero = getAffineConstantExpr(0, &context);
  AffineMap map = mapOf(desc, {4, 20, 3}, &context);
  EXPECT_EQ(map,
            AffineMap::get(3, 0, {getAffineDimExpr(0, &context), zero, getAffineDimExpr(2, &context), zero}, &context));
}

TEST(Padding, BoxesCoverThePaddingOnce) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::mt19937 engine(2);
  int padded = 0;
  for (int i = 0; i < 500; ++i) {
    TensorDesc desc = randomBlocked(engine);
    std::map<int64_t, int> expected, found;
    ArrayRef<int64_t> positions(desc.paddedDims, desc.ndims);
    forEachIndex(positions, [&](const Index &index) {
      bool inside = llvm::all_of(llvm::enumerate(index), [&](auto i) { return i.value() < desc.dims[i.index()]; });
      if (!inside)
        expected[desc.offsetOf(index)] = 1;
    });
    for (MemRefType box : paddingBoxes(desc, &context))
      forEachIndex(box.getShape(), [&](const Index &index) { ++found[addressIn(box, index)]; });
    ASSERT_EQ(found, expected) << "case " << i;
    padded += !expected.empty();
  }
  EXPECT_GT(padded, 200);
}

TEST(Padding, CommonLayoutsNeedOneBox) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto boxes = [&](std::vector<int64_t> dims, const char *tag) {
    return paddingBoxes(*TensorDesc::fromTag(dims, DataType::F32, tag), &context).size();
  };
  EXPECT_EQ(boxes({2, 32, 5, 5}, "aBcd16b"), 0u);
  EXPECT_EQ(boxes({2, 20, 5, 5}, "aBcd16b"), 1u);
  // Three boxes: past the end of a, past the end of b in whole blocks of a, and past the end of b in the last block of
  // a.
  EXPECT_EQ(boxes({20, 20, 5, 5}, "ABcd16a16b"), 3u);
}

} // namespace
