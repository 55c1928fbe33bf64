//===- ConcatVerifyTest.cpp - The constraints of concat, by number -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Concat/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

#include "Primitives/Arguments.h"
#include "Primitives/Concat/Places.h"

using namespace quern;
using namespace quern::test;

namespace {

std::string chosenLayout(std::string_view line) { return std::get<ConcatDesc>(verified(line).desc.op).dst.tag(); }

} // namespace

TEST(ConcatVerify, RefusesByNumber) {
  const Refusal refusals[] = {
      {"C2", "concat dst=f32:8x9:ab", invalid, "no source"},
      {"C3", "concat srcs=f32:8x9:any dst=f32:8x9:ab", invalid, "srcs.0 has layout `any`"},
      {"C3", "concat srcs=f32:8x9:ab,none dst=f32:8x9:ab", invalid, "srcs.1 is absent"},
      {"C4", "concat axis=2 srcs=f32:8x9:ab dst=f32:8x9:ab", invalid, "the axis is 2; srcs.0 of rank 2 allows 0 to 1"},
      {"C4", "concat axis=-1 srcs=f32:8x9:ab dst=f32:8x9:ab", invalid, "the axis is -1"},
      {"C5", "concat axis=1 srcs=f32:8x9:ab,f32:7x9:ab dst=f32:8x18:ab", invalid,
       "dim 0 of srcs.1 is 7; in srcs.0 it is 8"},
      {"C5", "concat axis=1 srcs=f32:8x9:ab,f32:8x9:ab dst=f32:8x17:ab", invalid, "dim 1 of dst is 17; it must be 18"},
      {"C5", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9x1:abc", invalid, "dst is of rank 3"},
      {"C5", "concat axis=1 srcs=f32:8x?:ab,f32:8x9:ab dst=f32:8x18:ab", invalid,
       "dim 1 of dst is 18; it must be known only at execution"},
      {"C5", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x?:ab", invalid, "dim 1 of dst is known only at execution"},
      {"C6", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C7", "concat axis=1 srcs=f32:8x9:ab,f32:8x9:s?x1 dst=f32:8x18:any", invalid, "which cannot follow srcs.1"},
      {"C8", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=dst", invalid,
       "only the 1 sources may have scales"},
      {"C8", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=srcs.3", invalid, "scales of srcs.3"},
      {"C8", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=srcs.0(mask=4)", invalid, "mask 4"},
      {"C12", "concat axis=1 srcs=f32:8x9:ab,u4:8x0:ab dst=f32:8x9:ab", unsupported, "srcs.1 of type u4"},
      {"C12", "concat axis=1 srcs=f32:8x9:ab dst=f4_e2m1:8x9:ab", unsupported, "dst of type f4_e2m1"},
      {"C13", "concat axis=1 srcs=f32:?x9:ab dst=f32:?x9:aB16b", unsupported, "inner blocks in dst"},
      {"C15", "concat axis=1 srcs=f32:8x9:ab dst=s8:8x9:ab:s8s8@1", unsupported, "compensation"},
      {"C16", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:s16x1:pad8x16:at0x1", unsupported, "padded offsets"},
      {"C17", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=srcs.0(mask=2)", unsupported, "of mask 2"},
      {"C17", "concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab attr.scales=srcs.0(type=s32)", unsupported, "type s32"},
      {"C18", "concat axis=1 srcs=s8:8x9:ab dst=s8:8x9:ab attr.zero_points=srcs.0", unsupported, "zero points"},
      {"C18", "concat axis=1 srcs=s8:8x9:ab dst=s8:8x9:ab attr.post_ops=eltwise(alg=relu)", unsupported, "post-ops"},
  };
  expectAllRefused("concat", refusals);
  const std::string known = repeated("f32:8x1:ab", 65);
  for (const std::string &line : {concat(repeated("f32:8x?:ab", 65), " dst=f32:8x?:ab"),
                                  concat(known, " dst=f32:8x65:ab:off?"), concat(known, " dst=f32:8x65:s1x?")})
    expectRefused(parsed(concat("concat axis=1 srcs=", line)), unsupported, "(concat C14)", "a concat of 65 sources");
  PrimitiveDesc damaged = parsed("concat axis=1 srcs=f32:8x9:ab dst=f32:8x9:ab");
  std::get<ConcatDesc>(damaged.op).srcs[0].dims[0] = -1; // C1
  expectRefused(damaged, invalid, "(concat C1)", "a negative dim");
}

TEST(ConcatVerify, ADestinationFollowsTheSources) {
  EXPECT_EQ(chosenLayout("concat axis=1 srcs=f32:2x16x5:abc,f32:2x16x5:aBc8b"), "aBc8b");
  EXPECT_EQ(chosenLayout("concat axis=1 srcs=f32:2x12x5:acb,f32:2x16x5:aBc8b"), "acb")
      << "the second source would begin within a block";
  EXPECT_EQ(chosenLayout("concat axis=1 srcs=f32:2x16x5:aBc8b,f32:2x3x5:acb"), "aBc8b")
      << "the last source may end within a block";
  EXPECT_EQ(chosenLayout("concat axis=1 srcs=f32:2x3x5:aBc8b,f32:2x3x5:aBc8b"), "abc");
  EXPECT_EQ(chosenLayout("concat axis=1 srcs=f32:2x0x5:acb,f32:2x3x5:cab"), "cab")
      << "a source without elements does not determine the layout";
  EXPECT_TRUE(verified("concat axis=1 srcs=f32:2x0x5:acb").isNoop);
  VerifiedProblem problem = verified("concat axis=1 srcs=s8:2x3:ab,f32:2x4:ab dst=f32:2x7:any attr.scales=srcs.1");
  ASSERT_EQ(problem.arguments.size(), 4u); // C9, C10 and C11 are about these arguments
  EXPECT_EQ(problem.arguments[3].name, "scales.srcs.1");
  EXPECT_EQ(problem.arguments[3].index, 4096 + 1025);
}

// Constraint C19.
TEST(ConcatVerify, ManyEqualSourcesAreOneKernel) {
  auto kernels = [](const VerifiedProblem &problem) {
    return concatenation::kernelsOf(std::get<ConcatDesc>(problem.desc.op), problem.desc.attr);
  };
  EXPECT_EQ(kernels(verified(concat("concat axis=1 srcs=", repeated("f32:2x16:aB8b", 1024)))).size(), 1u);
  EXPECT_EQ(
      kernels(verified("concat axis=1 srcs=f32:2x4:ab,f32:2x4:ab,f32:2x4:ab,f32:2x4:ab dst=f32:2x16:aB8b")).size(), 2u)
      << "half of the sources begin within a block";
  EXPECT_EQ(
      kernels(verified("concat axis=1 srcs=f32:2x4:ab,f32:2x4:ab,f32:2x0:ab,f32:2x4:ba attr.scales=srcs.1")).size(),
      3u);
  std::string line = "concat axis=1 srcs=f32:2x1:ab";
  for (int i = 2; i <= 129; ++i)
    line += concat(",f32:2x", i, ":ab");
  expectRefused(parsed(line), unsupported, "(concat C19)", "129 kinds of sources");
}
