//===- GemmVerifyTest.cpp - The constraints of gemm, by number ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Gemm/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

using namespace quern;
using namespace quern::test;

TEST(GemmVerify, AcceptsWhatIsImplemented) {
  for (std::string_view line : {
           "gemm src=f32:8x9:ab weights=f32:9x5:ba dst=f32:8x5:ab",
           "gemm src=f32:?x?:ba weights=f32:?x?:ab dst=f32:?x?:ab alpha=true beta=true",
           "gemm src=u8:8x9:s20x2:off3 weights=s8:9x5:s0x1 dst=s32:8x5:ba alpha=true offsets=true dst_offset=column",
           "gemm src=s8:8x9:ab weights=s8:9x5:ab dst=s32:8x5:ab dst_offset=row attr.scratchpad=user "
           "attr.deterministic=true",
       }) {
    VerifiedProblem problem = verified(line);
    EXPECT_EQ(problem.desc, parsed(line));
    EXPECT_FALSE(problem.isNoop);
  }
  EXPECT_TRUE(verified("gemm src=f32:8x0:ab weights=f32:0x5:ab dst=f32:8x5:ab beta=true").isNoop);
}

TEST(GemmVerify, ListsTheArguments) {
  VerifiedProblem problem =
      verified("gemm src=u8:8x9:ab weights=s8:9x5:ab dst=s32:8x5:ab alpha=true beta=true offsets=true dst_offset=row");
  const std::pair<int32_t, std::string_view> expected[] = {
      {1, "src"},         {33, "weights"},         {97, "alpha"},       {98, "beta"},
      {99, "src_offset"}, {100, "weights_offset"}, {101, "dst_offset"}, {17, "dst"}};
  ASSERT_EQ(problem.arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(problem.arguments[i].index, expected[i].first);
    EXPECT_EQ(problem.arguments[i].name, expected[i].second);
  }
  EXPECT_EQ(problem.arguments[4].desc.dataType, DataType::U8);
  EXPECT_EQ(problem.arguments[5].desc.dataType, DataType::S8);
  EXPECT_EQ(problem.arguments[6].desc.dims[0], 5);
  EXPECT_TRUE(problem.arguments[7].isOutput && problem.arguments[7].isUpdated);
}

TEST(GemmVerify, RefusesByNumber) {
  constexpr auto invalid = Status::InvalidArguments, unimplemented = Status::Unimplemented;
  for (const auto &[constraint, line, status, fragment] : {
           Refusal{"C2", "gemm src=f32:8x9:ab weights=f32:9x5:ab", invalid, "dst is absent"},
           Refusal{"C2", "gemm src=f32:8x9x1:abc weights=f32:9x5:ab dst=f32:8x5:ab", invalid, "src is of rank 3"},
           Refusal{"C2", "gemm src=f32:8x9:any weights=f32:9x5:ab dst=f32:8x5:ab", invalid, "layout `any`"},
           Refusal{"C3", "gemm src=f32:8x9:ab weights=f32:8x5:ab dst=f32:8x5:ab", invalid,
                   "dim 1 of src is 9; dim 0 of weights is 8"},
           Refusal{"C3", "gemm src=f32:?x9:ab weights=f32:9x5:ab dst=f32:8x5:ab", invalid,
                   "dim 0 of src is known only at execution"},
           Refusal{"C4", "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:s0x1", invalid, "stride 0 over dim 0"},
           Refusal{"C5", "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab offsets=true", invalid,
                   "offsets need integer products"},
           Refusal{"C5", "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab dst_offset=fixed", invalid,
                   "offsets need integer products"},
           Refusal{"C6", "gemm src=bf16:8x9:ab weights=bf16:9x5:ab dst=f32:8x5:ab", unimplemented, "src of bf16"},
           Refusal{"C6", "gemm src=u8:8x9:ab weights=s8:9x5:ab dst=f32:8x5:ab", unimplemented, "dst of f32"},
           Refusal{"C7", "gemm src=f32:8x9:aB4b weights=f32:9x5:ab dst=f32:8x5:ab", unimplemented,
                   "inner blocks in src"},
           Refusal{"C7", "gemm src=s8:8x9:ab weights=s8:9x5:ab:s8s8@2 dst=s32:8x5:ab", unimplemented,
                   "flags of weights"},
           Refusal{"C8", "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab attr.scales=src", unimplemented,
                   "scales"},
           Refusal{"C8", "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab attr.post_ops=sum", unimplemented,
                   "post-ops"},
       }) {
    expectRefused(parsed(line), status, fragment, line);
    expectRefused(parsed(line), status, std::string("(gemm ") + std::string(constraint) + ")", line);
  }
}

TEST(GemmVerify, C9Arithmetic) {
  const Target plain = *Target::parse("spirv64"), wide = *Target::parse("spirv64:f64");
  const PrimitiveDesc scaled = parsed("gemm src=u8:8x9:ab weights=s8:9x5:ab dst=s32:8x5:ab beta=true");
  Result<VerifiedProblem> refused = verify(scaled, plain);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::Unimplemented);
  EXPECT_TRUE(refused.error().message.ends_with("lacks (gemm C9)")) << refused.error().message;
  EXPECT_TRUE(verify(scaled, wide));
  EXPECT_TRUE(verify(parsed("gemm src=u8:8x9:ab weights=s8:9x5:ab dst=s32:8x5:ab offsets=true"), plain));
  EXPECT_TRUE(verify(parsed("gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab alpha=true"), plain));
}

// Constraints C10, C11 and C12.
TEST(GemmVerify, CitesTheConstraintsOfAnExecution) {
  const VerifiedProblem problem =
      verified("gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab alpha=true beta=true");
  EXPECT_EQ(problem.citations.missing, " (gemm C10)");
  EXPECT_EQ(problem.citations.overlapping, " (gemm C11)");
  EXPECT_EQ(problem.citations.unfitting, " (gemm C12)");
  for (const ArgumentInfo &argument : problem.arguments)
    EXPECT_EQ(argument.overwrittenBy, 0) << argument.name;
}

TEST(GemmVerify, C1IllFormed) {
  PrimitiveDesc desc = parsed("gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab");
  std::get<GemmDesc>(desc.op).weights.dims[0] = -3;
  expectRefused(desc, Status::InvalidArguments, "(gemm C1)", "negative dim");
}
