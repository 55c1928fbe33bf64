//===- RuntimeSizesTest.cpp - Open sizes of an execution ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the order of the list of sizes that kernels read, and every way in which a memory can fail to match.
//
//===----------------------------------------------------------------------===//
#include "Engine/RuntimeSizes.h"

#include "Desc/Text/TextForm.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

ArgumentInfo argument(const char *name, const char *text, bool isOutput = false) {
  return {1, name, *parseTensor(text), isOutput};
}

TEST(RuntimeSizes, DimsThenStridesThenOffset) {
  const ArgumentInfo all = argument("src", "f32:?x?x5:s?x?x1:off?");
  ASSERT_EQ(all.desc.runtimeSizes(), 5);
  int64_t sizes[6] = {-1, -1, -1, -1, -1, -1};
  ASSERT_TRUE(takeRuntimeSizes(all, *parseTensor("f32:2x3x5:s100x20x1:off7"), sizes));
  EXPECT_EQ(std::vector<int64_t>(sizes, sizes + 6), (std::vector<int64_t>{2, 3, 100, 20, 7, -1}));
  const ArgumentInfo rows = argument("src", "f32:?x5:ab");
  ASSERT_EQ(rows.desc.runtimeSizes(), 1);
  ASSERT_TRUE(takeRuntimeSizes(rows, *parseTensor("f32:9x5:ab"), sizes));
  EXPECT_EQ(sizes[0], 9);
  EXPECT_EQ(parseTensor("f32:9x5:ab")->runtimeSizes(), 0);
  EXPECT_EQ(TensorDesc().runtimeSizes(), 0);
}

TEST(RuntimeSizes, BlocksOfOpenDimsAreCounted) {
  const ArgumentInfo packed = argument("weights", "bf16:1x1x?x4x?:abdEC16e2c");
  ASSERT_EQ(packed.desc.runtimeSizes(), 8);
  int64_t sizes[9];
  std::fill_n(sizes, 9, -1);
  ASSERT_TRUE(takeRuntimeSizes(packed, *parseTensor("bf16:1x1x33x4x40:abdEC16e2c"), sizes));
  EXPECT_EQ(std::vector<int64_t>(sizes, sizes + 9),
            (std::vector<int64_t>{33, 40, 4 * 3 * 17 * 32, 4 * 3 * 17 * 32, 3 * 17 * 32, 17 * 32, 17, 3, -1}))
      << "dims, then strides, then numbers of blocks";
  const auto why = [&](const char *given) {
    Result<void> stored = takeRuntimeSizes(packed, *parseTensor(given), sizes);
    return stored ? "" : stored.error().message;
  };
  EXPECT_EQ(why("bf16:1x1x33x4x40:abcde"), "weights has other inner blocks than the primitive takes");
  EXPECT_EQ(why("bf16:1x1x33x4x40:abdEC32e2c"), "weights has other inner blocks than the primitive takes");
  EXPECT_EQ(why("bf16:1x1x33x4x40:abdEC16c2e"), "weights has other inner blocks than the primitive takes");
  EXPECT_EQ(why("bf16:1x1x33x4x8:s4352x4352x32x1088x1088:blk16e2c:pad1x1x34x4x8"),
            "dim 4 of weights is 8, padded to 8; an argument with runtime dims has no padding except in its last "
            "block");
  EXPECT_EQ(why("bf16:1x1x33x4x40:s13056x13056x32x3264x544:blk16e2c:pad1x1x34x4x64"),
            "dim 4 of weights is 40, padded to 64; an argument with runtime dims has no padding except in its last "
            "block");
}

TEST(RuntimeSizes, MismatchesAreNamed) {
  const ArgumentInfo src = argument("src", "f32:?x5:ab"), dst = argument("dst", "f32:4x?:ab", /*isOutput=*/true);
  const auto why = [](const ArgumentInfo &declared, const char *given) {
    int64_t sizes[4];
    Result<void> stored = takeRuntimeSizes(declared, *parseTensor(given), sizes);
    EXPECT_EQ(stored ? Status::Success : stored.error().status, Status::InvalidArguments) << given;
    return stored ? "" : stored.error().message;
  };
  EXPECT_EQ(why(src, "f16:4x5:ab"), "src is of type f16; the primitive takes f32");
  EXPECT_EQ(why(src, "f32:4x5x1:abc"), "src is of rank 3; the primitive takes 2");
  EXPECT_EQ(why(src, "f32:4x6:ab"), "dim 1 of src is 6; the primitive takes 5");
  EXPECT_EQ(why(src, "f32:4x5:ba"), "stride 0 of src is 1; the primitive takes 5");
  EXPECT_EQ(why(src, "f32:4x5:ab:off3"), "offset 0 of src is 3; the primitive takes 0");
  EXPECT_EQ(why(src, "f32:16x5:Ab16a"), "src is not plain; an argument with runtime dims must be plain");
  EXPECT_EQ(why(src, "f32:?x5:ab"), "dim 0 of src is not known at execution");
  EXPECT_EQ(why(dst, "f32:4x5:s0x1"), "dst has stride 0 over a dim greater than 1; only a source may broadcast");
  int64_t sizes[4];
  EXPECT_TRUE(takeRuntimeSizes(dst, *parseTensor("f32:4x5:s64x1"), sizes))
      << "a tensor with a runtime stride may have gaps";
}

TEST(RuntimeSizes, TensorsMustAgree) {
  VerifiedProblem problem;
  problem.arguments = {argument("src", "f32:?x5:ab"), argument("dst", "f32:?x5:ab", true),
                       argument("post0.src_1", "f32:1x5:ab")};
  const TensorDesc four = *parseTensor("f32:4x5:ab"), three = *parseTensor("f32:3x5:ab"),
                   one = *parseTensor("f32:1x5:ab");
  const TensorDesc *same[] = {&four, &four, &one}, *other[] = {&four, &three, &one};
  EXPECT_TRUE(checkSharedDims(problem, same));
  Result<void> checked = checkSharedDims(problem, other);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "dim 0 of dst is 3, of src 4; runtime dims must be the same in all tensors");
}

} // namespace
} // namespace quern
