//===- SumVerifyTest.cpp - The constraints of sum, by number -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Sum/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

#include "Primitives/Arguments.h"

using namespace quern;
using namespace quern::test;

namespace {

std::string chosenLayout(std::string_view line) { return std::get<SumDesc>(verified(line).desc.op).dst.tag(); }

} // namespace

TEST(SumVerify, RefusesByNumber) {
  const std::string many = concat("sum scales=", repeated("1", 17), " srcs=", repeated("f32:?:a", 17), " dst=f32:?:a");
  const Refusal refusals[] = {
      {"C2", "sum dst=f32:8x9:ab", invalid, "0 sources and 0 scales"},
      {"C2", "sum scales=1,2 srcs=f32:8x9:ab dst=f32:8x9:ab", invalid, "1 sources and 2 scales"},
      {"C3", "sum scales=1,2 srcs=f32:8x9:ab,f32:8x9:any dst=f32:8x9:ab", invalid, "srcs.1 has layout `any`"},
      {"C3", "sum scales=1,2 srcs=none,f32:8x9:ab dst=f32:8x9:ab", invalid, "srcs.0 is absent"},
      {"C4", "sum scales=1,2 srcs=f32:8x9:ab,f32:8x7:ab dst=f32:8x9:ab", invalid,
       "dim 1 of srcs.1 is 7; in srcs.0 it is 9"},
      {"C4", "sum scales=1,2 srcs=f32:8x9:ab,f32:8:a dst=f32:8x9:ab", invalid, "srcs.1 is of rank 1, srcs.0 of rank 2"},
      {"C4", "sum scales=1 srcs=f32:8x9:ab dst=f32:?x9:ab", invalid,
       "dim 0 of dst is known only at execution; in srcs.0 it is 8"},
      {"C5", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C6", "sum scales=1 srcs=f32:8x9:s?x1 dst=f32:8x9:any", invalid,
       "dst has layout `any`, which cannot follow srcs.0"},
      {"C10", "sum scales=1 srcs=s4:8x8:ab dst=f32:8x8:ab", unsupported, "srcs.0 of type s4"},
      {"C10", "sum scales=1 srcs=f32:8x9:ab dst=boolean:8x9:ab", unsupported, "dst of type boolean"},
      {"C11", "sum scales=1 srcs=f32:?x9:aB16b dst=f32:?x9:ab", unsupported, "inner blocks in srcs.0"},
      {"C12", "sum scales=1 srcs=s8:8x9:ab:s8s8@1 dst=f32:8x9:ab", unsupported, "compensation"},
      {"C13", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:s16x1:pad8x16:at0x1", unsupported, "padded offsets"},
      {"C14", many, unsupported, "a sum of 17 sources"},
      {"C15", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=srcs.0", unsupported, "does not support scales"},
      {"C15", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.zero_points=dst", unsupported, "zero points"},
      {"C15", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=sum", unsupported, "post-ops"},
      {"C15", "sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.rnn.data_scale=2", unsupported, "RNN"},
  };
  expectAllRefused("sum", refusals);
  PrimitiveDesc damaged = parsed("sum scales=1 srcs=f32:8x9:ab dst=f32:8x9:ab");
  std::get<SumDesc>(damaged.op).srcs[0].dims[0] = -1; // C1
  expectRefused(damaged, invalid, "(sum C1)", "a negative dim");
}

TEST(SumVerify, ADestinationFollowsTheSources) {
  EXPECT_EQ(chosenLayout("sum scales=1 srcs=f32:8x9:ba"), "ba");
  EXPECT_EQ(chosenLayout("sum scales=1,1,1 srcs=f32:8x9:ba,f32:8x9:aB8b,f32:8x9:Ab4a dst=bf16:8x9:any"), "aB8b");
  VerifiedProblem problem = verified("sum scales=1,1 srcs=bf16:8x9:ab,f32:8x9:ab");
  EXPECT_EQ(std::get<SumDesc>(problem.desc.op).dst.dataType, DataType::BF16);
  ASSERT_EQ(problem.arguments.size(), 3u); // C7, C8 and C9 are about these arguments
  EXPECT_EQ(problem.arguments[1].index, 1025);
  EXPECT_EQ(problem.arguments[1].name, "srcs.1");
  EXPECT_EQ(problem.arguments[2].index, arg::dst);
  EXPECT_TRUE(verified("sum scales=1 srcs=f32:0x9:ab").isNoop);
}
