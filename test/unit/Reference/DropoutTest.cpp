//===- DropoutTest.cpp - Random numbers of dropout ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the reference against masks that oneDNN 3.13.2 has drawn: 64 elements each, the first in the lowest bit.
//
//===----------------------------------------------------------------------===//
#include "Reference/Attributes/Dropout.h"

#include "Primitives/Arguments.h"

#include <gtest/gtest.h>

#include <limits>

using namespace quern;

namespace {

struct Drawn {
  int64_t seed, offset;
  bool usesOffset;
  DataType seedType;
  float probability;
};

uint64_t maskOf(const Drawn &drawn, float *factor = nullptr) {
  Dropout dropout;
  dropout.seedType = drawn.seedType;
  dropout.usesOffset = drawn.usesOffset;
  const auto narrow = static_cast<int32_t>(drawn.seed);
  const void *seed = drawn.seedType == DataType::S32 ? static_cast<const void *>(&narrow) : &drawn.seed;
  const TensorDesc dst = *TensorDesc::dense(std::vector<int64_t>{4, 16}, DataType::F32);
  Result<DroppedElements> dropped = readDropout(
      dropout, dst,
      {{arg::dropoutProbability, &drawn.probability}, {arg::dropoutSeed, seed}, {arg::dropoutOffset, &drawn.offset}});
  EXPECT_TRUE(dropped) << dropped.error().message;
  uint64_t mask = 0;
  for (size_t i = 0; i < 64; ++i)
    mask |= uint64_t(dropped->kept[i]) << i;
  if (factor)
    *factor = dropped->factor;
  return mask;
}

} // namespace

TEST(DropoutReference, DrawsTheMasksOfOneDnn) {
  EXPECT_EQ(maskOf({12345, 0, false, DataType::S32, 0.3f}), 0xfffff00ff0ff00f0u);
  EXPECT_EQ(maskOf({-12345, 0, false, DataType::S32, 0.3f}), 0xff00fff0ffff0fffu);
  EXPECT_EQ(maskOf({0x123456789ab, 0, false, DataType::S64, 0.3f}), 0xffff0fff0fffff0fu);
  EXPECT_EQ(maskOf({-5, 6, true, DataType::S32, 0.3f}), 0xcef79ffef7b7f773u);
  EXPECT_EQ(maskOf({-0x123456789ab, -0x700000003, true, DataType::S64, 0.3f}), 0x96aefff72de2b7ffu);
  EXPECT_EQ(maskOf({7, 0, true, DataType::S64, 0.3f}), 0xfff0fff0ff00ff0fu);
  EXPECT_EQ(maskOf({7, 9, true, DataType::S64, 0.4f}), 0xf74dea3bbef4ab39u);
}

TEST(DropoutReference, ProbabilitiesBeyondZeroAndOne) {
  float factor = 0;
  const auto kept = [&](float p) { return maskOf({99, 3, true, DataType::S64, p}, &factor); };
  EXPECT_EQ(kept(0), ~uint64_t(0));
  EXPECT_EQ(factor, 1);
  EXPECT_EQ(kept(-1), ~uint64_t(0));
  EXPECT_EQ(factor, 0.5f) << "the factor uses p without clamping";
  EXPECT_EQ(kept(1), 0u);
  EXPECT_EQ(factor, 0);
  EXPECT_EQ(kept(2), 0u);
  EXPECT_EQ(kept(std::numeric_limits<float>::quiet_NaN()), 0u);
}
