//===- BinaryVerifyTest.cpp - The constraints of binary, by number --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Binary/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

#include "Desc/Text/TextForm.h"

using namespace quern;
using namespace quern::test;

namespace {

const BinaryDesc &binaryOf(const VerifiedProblem &problem) { return std::get<BinaryDesc>(problem.desc.op); }

} // namespace

TEST(BinaryVerify, AcceptsEveryBroadcastAndLayout) {
  for (std::string_view line : {
           "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab",
           "binary alg=mul src=f32:8x9:ab src1=f32:1x1:ab dst=f32:8x9:ba",
           "binary alg=sub src=f32:1x9:ab src1=f32:8x1:ab dst=f32:8x9:ab",
           "binary alg=div src=f32:1x1:ab src1=f32:8x9:aB16b dst=f32:8x9:Ab4a",
           "binary alg=max src=f32:8x9:s0x1 src1=f32:8x9:s64x2:off3 dst=f32:8x9:s16x1:pad8x16",
           "binary alg=select src=f32:8x9:ab src1=f32:1x9:ab src2=s8:8x1:ab dst=f32:8x9:ab",
           "binary alg=eq src=f32:?x?x3:abc src1=f32:?x1x1:abc dst=u8:?x?x3:cab",
           "binary alg=min src=f32:8x9:s?x1:off? src1=f32:8x9:ab dst=f32:8x9:ab",
           "binary alg=add src=s8:8x9:ab src1=s8:1x9:ab dst=s8:8x9:ab "
           "attr.scales=src(mask=3,type=bf16),src_1(mask=2,type=e8m0) "
           "attr.post_ops=sum(scale=2,type=u8),eltwise(alg=relu),binary(alg=mul,src1=f16:8x1:ab)",
           "binary alg=ne src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab attr.scratchpad=user attr.fpmath=any "
           "attr.deterministic=true",
       }) {
    VerifiedProblem problem = verified(line);
    EXPECT_EQ(problem.desc, parsed(line));
    EXPECT_FALSE(problem.isNoop);
  }
  EXPECT_TRUE(verified("binary alg=add src=f32:8x0:ab src1=f32:1x1:ab dst=f32:8x0:ab").isNoop);
}

TEST(BinaryVerify, ListsTheArguments) {
  VerifiedProblem problem =
      verified("binary alg=select src=s8:8x12:ab src1=u8:1x12:ab src2=s8:8x12:ab dst=u8:8x12:ba "
               "attr.scales=src(mask=1,type=bf16),src_1 attr.post_ops=sum,binary(alg=add,src1=f32:8x12:any)");
  struct Expected {
    int32_t index;
    std::string_view name;
    int64_t elements;
  };
  const Expected expected[] = {
      {1, "src", 96},          {2, "src_1", 12},          {3, "src_2", 96},          {17, "dst", 96},
      {4097, "scales.src", 8}, {4098, "scales.src_1", 1}, {65538, "post1.src_1", 96}};
  ASSERT_EQ(problem.arguments.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    EXPECT_EQ(argument.index, expected[i].index) << i;
    EXPECT_EQ(argument.name, expected[i].name) << i;
    EXPECT_EQ(argument.desc.elements(), expected[i].elements) << i;
    EXPECT_EQ(argument.isOutput, expected[i].index == 17) << i;
    EXPECT_EQ(argument.isUpdated, expected[i].index == 17) << i;
  }
  EXPECT_EQ(verified("binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab").arguments.size(), 3u);
}

// Constraint C8.
TEST(BinaryVerify, ResolvesAny) {
  struct Expected {
    std::string_view line, src1, dst;
  };
  const Expected expected[] = {
      {"binary alg=add src=f32:8x20x3:acb src1=bf16:8x20x3:any dst=s8:8x20x3:any", "bf16:8x20x3:acb", "s8:8x20x3:acb"},
      {"binary alg=add src=f32:8x20x3:aBc16b src1=f32:8x20x3:any dst=f32:8x20x3:any", "f32:8x20x3:aBc16b",
       "f32:8x20x3:aBc16b"},
      // Resolved without gaps and offset.
      {"binary alg=add src=f32:8x9:s32x2:off5 src1=f32:8x9:ba dst=f32:8x9:any", "f32:8x9:ba", "f32:8x9:ab"},
      // A broadcast tensor keeps the order of dims.
      {"binary alg=add src=f32:8x20x3:acb src1=f32:1x20x3:any dst=f32:8x20x3:acb", "f32:1x20x3:acb", "f32:8x20x3:acb"},
      // dst follows the source that has its dims; if there is none, it has src's order.
      {"binary alg=add src=f32:1x20x3:abc src1=f32:8x20x3:cba dst=f32:8x20x3:any", "f32:8x20x3:cba", "f32:8x20x3:cba"},
      {"binary alg=add src=f32:1x20:ab src1=f32:8x1:ab dst=f32:8x20:any", "f32:8x1:ab", "f32:8x20:ab"},
      {"binary alg=add src=f32:1x20:ab src1=f32:8x20:any dst=f32:8x20:any", "f32:8x20:ab", "f32:8x20:ab"},
  };
  for (const Expected &one : expected) {
    VerifiedProblem problem = verified(one.line);
    EXPECT_EQ(textOf(binaryOf(problem).src1), one.src1) << one.line;
    EXPECT_EQ(textOf(binaryOf(problem).dst), one.dst) << one.line;
  }
  VerifiedProblem select = verified("binary alg=select src=f32:8x9:ba src1=f32:8x9:ab src2=s8:8x9:any dst=f32:8x9:any");
  EXPECT_EQ(textOf(binaryOf(select).src2), "s8:8x9:ba");
  const Refusal refusals[] = {
      {"C8", "binary alg=add src=f32:8x9:s?x1 src1=f32:8x9:ab dst=f32:8x9:any", invalid, "cannot follow src"},
      {"C8", "binary alg=add src=f32:8x9:s?x1 src1=f32:8x9:any dst=f32:8x9:ab", invalid, "cannot follow src"}};
  expectAllRefused("binary", refusals);
}

// Constraint C1.
TEST(BinaryVerify, TensorsAndAttributesAreCheckedBeforeAnything) {
  PrimitiveDesc desc = parsed("binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab");
  std::get<BinaryDesc>(desc.op).src1.dims[1] = -4;
  expectRefused(desc, invalid, "src1: ", "a negative dim");
  expectRefused(desc, invalid, "(binary C1)", "a negative dim");
}

// Constraint C15.
TEST(BinaryVerify, AcceptsEveryType) {
  const std::string_view types[] = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s32", "s8", "u8"};
  for (std::string_view src : types)
    for (std::string_view dst : types) {
      verified(concat("binary alg=add src=", src, ":8x9:ab src1=", dst, ":8x9:ba dst=", dst, ":8x9:ab"));
      verified(
          concat("binary alg=select src=f32:8x9:ab src1=", src, ":8x9:ba src2=", dst, ":8x9:ba dst=", src, ":8x9:ab"));
    }
  const Refusal refusals[] = {
      {"C15", "binary alg=add src=s4:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab", unsupported,
       "for src of type s4; it is for f64"},
      {"C15", "binary alg=add src=f32:8x9:ab src1=e8m0:8x9:ab dst=f32:8x9:ab", unsupported, "for src_1 of type e8m0"},
      {"C15", "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f4_e2m1:8x9:ab", unsupported,
       "for dst of type f4_e2m1"},
      {"C15", "binary alg=select src=f32:8x9:ab src1=f32:8x9:ab src2=boolean:8x9:ab dst=f32:8x9:ab", unsupported,
       "for src_2 of type"},
      {"C15",
       "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=add,src1=u4:8x9:ab)",
       unsupported, "for post0.src_1 of type u4"},
  };
  expectAllRefused("binary", refusals);
}

// Constraints C2 to C7 and C16 to C18.
TEST(BinaryVerify, RefusesTensorsByNumber) {
  const Refusal refusals[] = {
      {"C2", "binary src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab", invalid,
       "algorithm 'undef' (0) is not a binary algorithm"},
      {"C3", "binary alg=add src1=f32:8x9:ab dst=f32:8x9:ab", invalid, "a binary needs src, which is absent"},
      {"C3", "binary alg=add src=f32:8x9:ab dst=f32:8x9:ab", invalid, "a binary needs src_1, which is absent"},
      {"C3", "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab", invalid, "a binary needs dst, which is absent"},
      {"C3", "binary alg=select src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:ab", invalid, "a select needs src_2"},
      {"C3", "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab src2=s8:8x9:ab dst=f32:8x9:ab", invalid,
       "only a select uses src_2"},
      {"C4", "binary alg=add src=f32:8x9:any src1=f32:8x9:ab dst=f32:8x9:ab", invalid, "src has layout `any`"},
      {"C5", "binary alg=add src=f32:8x9:ab src1=f32:9:a dst=f32:8x9:ab", invalid, "src_1 is of rank 1, dst of rank 2"},
      {"C5", "binary alg=add src=f32:8x9:ab src1=f32:8x3:ab dst=f32:8x9:ab", invalid,
       "dim 1 of src_1 is 3; it must be 1 or that of dst, 9"},
      {"C5", "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x1:ab", invalid,
       "dim 1 of src is 9; it must be 1 or that of dst, 1"},
      {"C5", "binary alg=add src=f32:8x1:ab src1=f32:1x1:ab dst=f32:8x9:ab", invalid,
       "dim 1 of dst is 9; in src and src_1 it is 1"},
      {"C5", "binary alg=select src=f32:8x9:ab src1=f32:8x9:ab src2=s8:8x3:ab dst=f32:8x9:ab", invalid,
       "dim 1 of src_2 is 3"},
      {"C6", "binary alg=add src=f32:1x9:ab src1=f32:?x9:ab dst=f32:?x9:ab", invalid,
       "dim 0 of dst is known only at execution; in src it is 1"},
      {"C7", "binary alg=add src=f32:8x9:ab src1=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C16", "binary alg=add src=f32:?x9:aB16b src1=f32:?x9:ab dst=f32:?x9:ab", unsupported, "inner blocks in src"},
      {"C17", "binary alg=add src=s8:8x9:ab:s8s8@1 src1=s8:8x9:ab dst=s8:8x9:ab", unsupported,
       "compensation in src; its flags are 1"},
      {"C18", "binary alg=add src=f32:8x9:s64x1:pad8x64:at0x1 src1=f32:8x9:ab dst=f32:8x9:ab", unsupported,
       "that of dim 1 of src is 1"},
  };
  expectAllRefused("binary", refusals);
}

// Constraints C9 to C11 and C19 to C26.
TEST(BinaryVerify, RefusesAttributesByNumber) {
  const std::string both = "binary alg=add src=s8:8x9:ab src1=s8:8x9:ab dst=s8:8x9:ab ";
  const std::string lines[] = {
      both + "attr.scales=src(mask=4)",
      both + "attr.scales=src_2",
      both + "attr.post_ops=binary(alg=add,src1=f32:8x3:ab)",
      both + "attr.post_ops=sum(type=f32)",
      both + "attr.scales=dst",
      both + "attr.scales=src_1(mask=3,groups=2x3)",
      both + "attr.scales=src(type=s32)",
      both + "attr.zero_points=src_1(type=s32)",
      both + "attr.post_ops=sum,sum",
      both + "attr.post_ops=eltwise(alg=relu),prelu(mask=2)",
      both + "attr.scales=post0.src_1(mask=3,groups=2x3) attr.post_ops=binary(alg=add,src1=f32:8x9:ab)",
      both + "attr.rnn.data_scale=2",
      both + "attr.dropout.seed=s32 attr.dropout.mask=u8:8x9x1:abc",
      both + "attr.dropout.seed=s32 attr.dropout.mask=u8:8x9:ba"};
  const Refusal refusals[] = {
      {"C9", lines[0], invalid, "scales of src have mask 4; a tensor of rank 2 allows 0 to 3"},
      {"C9", lines[1], invalid, "scales of src_2 (argument 3) are given; the problem has no such tensor"},
      {"C10", lines[2], invalid, "dim 1 of post0.src_1 is 3"},
      {"C11", lines[3], invalid, "post-op sum reads dst as f32"},
      {"C19", lines[4], unsupported, "with scales of dst; it is for those of src and src_1"},
      {"C19", lines[5], unsupported, "with groups of scales of src_1"},
      {"C19", "binary alg=add src=s8:?x9:ab src1=s8:?x9:ab dst=s8:?x9:ab attr.scales=src_1(mask=1)", unsupported,
       "along dim 0"},
      {"C20", lines[6], unsupported, "scales of src are of type s32"},
      {"C21", lines[7], unsupported, "with zero points of src_1"},
      {"C22", lines[8], unsupported, "a second post-op sum, which is number 1"},
      {"C22", lines[9], unsupported, "a post-op prelu, which is number 1; it is for eltwise, binary and one sum"},
      {"C23", lines[10], unsupported, "with groups of scales of post0.src_1"},
      {"C24", lines[11], unsupported, "RNN quantization"},
      {"C25", lines[12], invalid, "it must have the dims of dst, s8:8x9:ab"},
      {"C26", lines[13], unsupported, "with a dropout mask of u8:8x9:ba; it is for u8:8x9:ab"},
      {"C26", "binary alg=add src=s8:?x9:ab src1=s8:?x9:ab dst=s8:?x9:ab attr.dropout.seed=s32", unsupported,
       "known only at execution"},
  };
  expectAllRefused("binary", refusals);
}
