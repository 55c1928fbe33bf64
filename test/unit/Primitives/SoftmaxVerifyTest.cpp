//===- SoftmaxVerifyTest.cpp - The constraints of softmax, by number ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the constraints of Primitives/Softmax/Verify.cpp; each test names those that it covers.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

#include "Desc/Text/TextForm.h"

using namespace quern;
using namespace quern::test;

namespace {

const SoftmaxDesc &softmaxOf(const VerifiedProblem &problem) { return std::get<SoftmaxDesc>(problem.desc.op); }

} // namespace

TEST(SoftmaxVerify, AcceptsWhatIsImplemented) {
  for (std::string_view line : {
           "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=1",
           "softmax fwd_t alg=log src=bf16:8x9:ab dst=f64:8x9:ba",
           "softmax fwd_i alg=accurate_inf_as_zero src=f16:8x9:s0x1 dst=bf16:8x9:s16x1:off5 axis=1",
           "softmax fwd_i src=f64:8x9:s20x2:off1 dst=f16:8x9:ab axis=1",
           "softmax fwd_i src=f32:1x2x1x2x1x2x1x2x1x2x1x2:lkjihgfedcba dst=f32:1x2x1x2x1x2x1x2x1x2x1x2:abcdefghijkl "
           "axis=11",
           "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scratchpad=user attr.fpmath=any attr.fpmath_int=true "
           "attr.accumulation=any attr.deterministic=true",
       }) {
    VerifiedProblem problem = verified(line);
    EXPECT_EQ(problem.desc, parsed(line));
    EXPECT_FALSE(problem.isNoop);
  }
}

TEST(SoftmaxVerify, ListsTheArguments) {
  VerifiedProblem problem = verified("softmax fwd_i src=f32:8x9:ab dst=bf16:8x9:ba axis=1");
  ASSERT_EQ(problem.arguments.size(), 2u);
  EXPECT_EQ(problem.arguments[0].index, 1);
  EXPECT_EQ(problem.arguments[0].name, "src");
  EXPECT_EQ(problem.arguments[0].desc, softmaxOf(problem).src);
  EXPECT_FALSE(problem.arguments[0].isOutput);
  EXPECT_EQ(problem.arguments[1].index, 17);
  EXPECT_EQ(problem.arguments[1].name, "dst");
  EXPECT_EQ(problem.arguments[1].desc, softmaxOf(problem).dst);
  EXPECT_TRUE(problem.arguments[1].isOutput);
}

TEST(SoftmaxVerify, ZeroDimsAreANoop) {
  EXPECT_TRUE(verified("softmax fwd_i src=f32:8x0:ab dst=f32:8x0:any axis=1").isNoop);
}

TEST(SoftmaxVerify, ListsTheArgumentsOfAttributes) {
  VerifiedProblem problem = verified(
      "softmax fwd_i src=s8:8x9:ab dst=u8:8x9:ab axis=1 attr.scales=src(type=bf16),dst,post1.src_1(mask=3),post2.src_1 "
      "attr.zero_points=post1.src_1(mask=2,type=s32) "
      "attr.post_ops=eltwise(alg=relu),binary(alg=add,src1=s8:8x9:aB16b),"
      "binary(alg=select,src1=f32:1x9:any,src2=u8:8x1:ab)");
  struct Expected {
    int32_t index;
    std::string_view name;
    DataType type;
    int64_t elements;
  };
  const std::vector<Expected> expected = {{1, "src", DataType::S8, 72},
                                          {17, "dst", DataType::U8, 72},
                                          {4097, "scales.src", DataType::BF16, 1},
                                          {4113, "scales.dst", DataType::F32, 1},
                                          {65538, "post1.src_1", DataType::S8, 72},
                                          {69634, "scales.post1.src_1", DataType::F32, 72},
                                          {73730, "zero_points.post1.src_1", DataType::S32, 9},
                                          {98306, "post2.src_1", DataType::F32, 9},
                                          {98307, "post2.src_2", DataType::U8, 8},
                                          {102402, "scales.post2.src_1", DataType::F32, 1}};
  ASSERT_EQ(problem.arguments.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    EXPECT_EQ(argument.index, expected[i].index) << i;
    EXPECT_EQ(argument.name, expected[i].name) << i;
    EXPECT_EQ(argument.desc.dataType, expected[i].type) << i;
    EXPECT_EQ(argument.desc.elements(), expected[i].elements) << i;
    EXPECT_EQ(argument.isOutput, expected[i].index == 17) << i;
    EXPECT_TRUE(argument.desc.validate()) << i;
  }
  EXPECT_EQ(problem.desc.attr.postOps[2].src1.tag(), "ab") << "the key contains the chosen layout instead of `any`";
}

TEST(SoftmaxVerify, ListsTheArgumentsOfBackward) {
  VerifiedProblem problem = verified("softmax bwd_d dst=f32:8x9:ab diff_src=bf16:8x9:ba diff_dst=f16:8x9:s0x1 axis=1");
  ASSERT_EQ(problem.arguments.size(), 3u);
  EXPECT_EQ(problem.arguments[0].index, 17);
  EXPECT_FALSE(problem.arguments[0].isOutput);
  EXPECT_EQ(problem.arguments[1].index, 145);
  EXPECT_FALSE(problem.arguments[1].isOutput);
  EXPECT_EQ(problem.arguments[2].index, 129);
  EXPECT_TRUE(problem.arguments[2].isOutput);
  EXPECT_EQ(problem.arguments[2].desc, softmaxOf(problem).diffSrc);
}

// Constraints C13, C14 and C23.
TEST(SoftmaxVerify, AcceptsEveryType) {
  const std::vector<std::string_view> forward = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s8", "u8"};
  for (std::string_view src : forward)
    for (std::string_view dst : forward)
      verified(concat("softmax fwd_i src=", src, ":8x9:ab dst=", dst, ":8x9:ab"));
  const std::vector<std::string_view> backward(forward.begin(), forward.begin() + 4);
  for (std::string_view dst : backward)
    for (std::string_view diffDst : backward)
      for (std::string_view diffSrc : backward)
        verified(
            concat("softmax bwd_d dst=", dst, ":8x9:ab diff_dst=", diffDst, ":8x9:ab diff_src=", diffSrc, ":8x9:ab"));
  for (std::string_view type : {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s32", "s8", "u8"})
    verified(
        concat("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=add,src1=", type, ":8x1:ab)"));
}

TEST(SoftmaxVerify, AcceptsEveryLayout) {
  for (std::string_view line : {
           "softmax fwd_i src=f32:8x9:aB16b dst=f32:8x9:Ab8a axis=1",
           "softmax fwd_i src=f32:8x9x5:ABc4a8b2a dst=f32:8x9x5:s80x5x1:pad8x16x5 axis=1",
           "softmax fwd_i src=f32:?x9:ab dst=f32:?x9:s?x1:off? axis=1 attr.post_ops=binary(alg=add,src1=f32:?x1:ab)",
           "softmax bwd_d dst=f32:8x9:s0x1 diff_dst=f32:8x9:s1x0 diff_src=f32:8x9:aB16b axis=1",
           "softmax bwd_d dst=f32:8x17:ab diff_dst=f32:8x17:ab diff_src=f32:8x17:s32x0:blk32b axis=1",
       })
    EXPECT_EQ(verified(line).desc, parsed(line));
}

// Constraint C5.
TEST(SoftmaxVerify, AnyFollowsTheTensorBefore) {
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9x3:cab dst=bf16:8x9x3:any")).dst.tag(), "cab");
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9:s20x2:off3 dst=f32:8x9:any")).dst.tag(), "ab");
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9:s0x1 dst=f32:8x9:any")).dst.hasBroadcast(), false);
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9:aB16b dst=s8:8x9:any")).dst.tag(), "aB16b");
  SoftmaxDesc backward =
      softmaxOf(verified("softmax bwd_d dst=f32:8x9x3:cab diff_dst=bf16:8x9x3:any diff_src=f16:8x9x3:any"));
  EXPECT_EQ(backward.diffDst.tag(), "cab");
  EXPECT_EQ(backward.diffSrc.tag(), "cab");
  EXPECT_EQ(backward.diffSrc.dataType, DataType::F16);
}

// Constraints C5 and C9.
TEST(SoftmaxVerify, AHintMustFit) {
  PrimitiveDesc backward = parsed("softmax bwd_d dst=f32:8x9:any diff_dst=f32:8x9:any diff_src=f32:8x9:ab axis=1");
  PrimitiveDesc forward = parsed("softmax fwd_t src=f32:8x9:ab dst=bf16:8x9:s30x2:off7 axis=1");
  Result<VerifiedProblem> problem = verify(backward, Target(), &forward);
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(softmaxOf(*problem).dst, *parseTensor("f32:8x9:s30x2:off7"));
  EXPECT_EQ(softmaxOf(*problem).diffDst.tag(), "ab");
  for (std::string_view line :
       {"softmax fwd_t src=f32:8x9:ab dst=f32:8x9:ab axis=0", "softmax fwd_t src=f32:8x7:ab dst=f32:8x7:ab axis=1",
        "softmax fwd_t alg=log src=f32:8x9:ab dst=f32:8x9:ab axis=1", "reorder src=f32:8x9:ab dst=f32:8x9:ab",
        "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:ab axis=1"}) {
    PrimitiveDesc hint = parsed(line);
    problem = verify(backward, Target(), &hint);
    ASSERT_FALSE(problem) << line;
    EXPECT_EQ(problem.error().status, Status::InvalidArguments) << line;
    EXPECT_NE(problem.error().message.find("(softmax C9)"), std::string::npos) << problem.error().message;
  }
}

TEST(SoftmaxVerify, RefusesByNumber) {
  constexpr Status invalid = Status::InvalidArguments, unsupported = Status::Unimplemented;
  const Refusal refusals[] = {
      {"C2", "softmax src=f32:8x9:ab dst=f32:8x9:ab", invalid, "propagation kind 'undef' (0)"},
      {"C2", "softmax bwd_w src=f32:8x9:ab dst=f32:8x9:ab", invalid, "propagation kind 'bwd_w' (192)"},
      {"C3", "softmax fwd_i alg=eltwise_relu src=f32:8x9:ab dst=f32:8x9:ab", invalid, "algorithm 'eltwise_relu' (32)"},
      {"C4", "softmax fwd_i dst=f32:8x9:ab", invalid, "forward softmax needs src"},
      {"C4", "softmax fwd_i src=f32:8x9:ab", invalid, "forward softmax needs dst"},
      {"C4", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab diff_dst=f32:8x9:ab", invalid,
       "forward softmax does not use diff_dst"},
      {"C4", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab diff_src=f32:8x9:ab", invalid,
       "forward softmax does not use diff_src"},
      {"C4", "softmax bwd_d src=f32:8x9:ab dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:ab", invalid,
       "does not use src"},
      {"C4", "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab", invalid, "backward softmax needs diff_src"},
      {"C4", "softmax bwd_d diff_src=f32:8x9:ab diff_dst=f32:8x9:ab", invalid, "backward softmax needs dst"},
      {"C5", "softmax fwd_i src=f32:8x9:any dst=f32:8x9:ab", invalid, "src has layout `any`"},
      {"C5", "softmax bwd_d dst=f32:8x9:any diff_dst=f32:8x9:ab diff_src=f32:8x9:ab", invalid,
       "takes it from a hint, which is absent"},
      {"C6", "softmax fwd_i src=f32:8x9:ab dst=f32:8x10:ab", invalid, "dim 1 of dst is 10; in src it is 9"},
      {"C6", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9x1:abc", invalid, "dst is of rank 3, src of rank 2"},
      {"C6", "softmax fwd_i src=f32:?x9:ab dst=f32:8x9:ab", invalid,
       "dim 0 of dst is 8; in src it is known only at execution"},
      {"C6", "softmax fwd_i src=f32:?x9:ab dst=f32:8x9:any", invalid,
       "dim 0 of dst is 8; in src it is known only at execution"},
      {"C6", "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:9x9:ab", invalid,
       "dim 0 of diff_src is 9; in dst it is 8"},
      {"C7", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=2", invalid,
       "axis is 2; a tensor of rank 2 allows 0 to 1"},
      {"C7", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=-1", invalid, "axis is -1"},
      {"C7", "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:ab axis=5", invalid, "axis is 5"},
      {"C8", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0 over dim 0"},
      {"C8", "softmax fwd_i src=f32:8x17:ab dst=f32:8x17:s16x0:blk16b", invalid, "dst has stride 0 over dim 1"},
      {"C8", "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:s0x1", invalid,
       "diff_src has stride 0 over dim 0"},
      {"C10", "softmax fwd_i src=f32:8x9:ab:off? dst=f32:8x9:any", invalid,
       "dst has layout `any`, which cannot follow src"},
      {"C10", "softmax bwd_d dst=f32:8x9:s?x1 diff_dst=f32:8x9:any diff_src=f32:8x9:any", invalid,
       "diff_dst has layout `any`"},
      {"C11", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=add,src1=f32:8x3:ab)", invalid,
       "dim 1 of post0.src_1 is 3; it must be 1 or dst's 9"},
      {"C11",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=eltwise(alg=tanh),binary(alg=add,src1=f32:9:a)",
       invalid, "post1.src_1 is of rank 1, dst of rank 2"},
      {"C11",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=s8:2x9:ab)",
       invalid, "dim 0 of post0.src_2 is 2"},
      {"C12", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=weights", invalid,
       "scales of weights (argument 33)"},
      {"C12", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=post0.src_1", invalid, "scales of post0.src_1"},
      {"C12",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.zero_points=post0.src_2 "
       "attr.post_ops=binary(alg=add,src1=s8:1x9:ab)",
       invalid, "zero points of post0.src_2"},
      {"C12",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=post0.src_1(mask=4) "
       "attr.post_ops=binary(alg=add,src1=s8:1x9:ab)",
       invalid, "scales of post0.src_1 have mask 4; a tensor of rank 2 allows 0 to 3"},
      {"C13", "softmax fwd_i src=s32:8x9:ab dst=f32:8x9:ab", unsupported, "src of type s32"},
      {"C13", "softmax fwd_i src=f32:8x9:ab dst=s4:8x9:any", unsupported, "dst of type s4"},
      {"C14", "softmax bwd_d dst=s8:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:ab", unsupported, "dst of type s8"},
      {"C14", "softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f8_e5m2:8x9:ab", unsupported,
       "diff_src of type f8_e5m2"},
      {"C15", "softmax fwd_i src=f32:?x9:ab dst=f32:?x9:aB16b", unsupported, "inner blocks in dst"},
      {"C15", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:s?x1:pad8x16", unsupported, "padding in dst"},
      {"C16", "softmax fwd_i src=f32:8x9:ab:s8s8@1 dst=f32:8x9:ab", unsupported,
       "compensation in src; its flags are 1"},
      {"C17", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:s20x1:pad8x16:at0x3", unsupported, "that of dim 1 of dst is 3"},
      {"C18", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=dst(mask=2)", unsupported,
       "scales of dst have mask 2"},
      {"C19", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=src(groups=1x3)", unsupported,
       "groups of scales of src"},
      {"C20", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=src(type=f64)", unsupported,
       "scales of src are of type f64"},
      {"C20",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.zero_points=post0.src_1(type=f16) "
       "attr.post_ops=binary(alg=add,src1=s8:1x9:ab)",
       unsupported, "zero points of post0.src_1 are of type f16"},
      {"C21", "softmax fwd_i src=f32:8x9:ab dst=u8:8x9:ab attr.zero_points=dst", unsupported, "zero points of dst"},
      {"C22", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=sum", unsupported,
       "a post-op sum, which is number 0"},
      {"C22", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=eltwise(alg=relu),prelu(mask=1)", unsupported,
       "a post-op prelu, which is number 1"},
      {"C23", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=binary(alg=mul,src1=u4:8x9:ab)", unsupported,
       "post0.src_1 of type u4"},
      {"C24",
       "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=post0.src_2 "
       "attr.post_ops=binary(alg=select,src1=f32:1x1:ab,src2=s8:8x9:ab)",
       unsupported, "scales of post0.src_2"},
      {"C24",
       "softmax fwd_i src=f32:?x9:ab dst=f32:?x9:ab attr.scales=post0.src_1(mask=1) "
       "attr.post_ops=binary(alg=mul,src1=s8:?x9:ab)",
       unsupported, "scales of post0.src_1 along dim 0"},
      {"C25", "softmax bwd_d dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab attr.scales=dst", unsupported,
       "does not support scales"},
      {"C25", "softmax bwd_d dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab attr.zero_points=dst", unsupported,
       "does not support zero"},
      {"C25", "softmax bwd_d dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab attr.post_ops=eltwise(alg=abs)",
       unsupported, "does not support post-ops"},
      {"C25", "softmax bwd_d dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab attr.dropout.seed=s32", unsupported,
       "does not support dropout"},
      {"C26", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.rnn.data_scale=2", unsupported, "RNN quantization"},
      {"C30", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.dropout.seed=s32 attr.dropout.mask=u8:8x1:ab", invalid,
       "dims of dst"},
      {"C31", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.dropout.seed=s32 attr.dropout.mask=u8:8x9:ba",
       unsupported, "u8:8x9:ba"},
      {"C31", "softmax fwd_i src=f32:?x9:ab dst=f32:?x9:ab attr.dropout.seed=s32", unsupported,
       "known only at execution"},
  };
  expectAllRefused("softmax", refusals);
}

// Constraint C1.
TEST(Verify, TensorsAndAttributesAreCheckedBeforeAnything) {
  PrimitiveDesc desc = parsed("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab");
  std::get<SoftmaxDesc>(desc.op).dst.innerBlockCount = 99;
  expectRefused(desc, Status::InvalidArguments,
                "dst: a tensor has 99 inner blocks; between 0 and 12 are possible (softmax C1)", "tensor");
  desc = parsed("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab");
  desc.attr.scales[1].mask = -1;
  expectRefused(desc, Status::InvalidArguments, "(softmax C1)", "attribute");
}

// Constraints C27, C28 and C29.
TEST(SoftmaxVerify, CitesTheConstraintsOfAnExecution) {
  const VerifiedProblem forward = verified("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=src "
                                           "attr.post_ops=binary(alg=add,src1=f32:8x9:ab)");
  EXPECT_EQ(forward.citations.missing, " (softmax C27)");
  EXPECT_EQ(forward.citations.overlapping, " (softmax C28)");
  EXPECT_EQ(forward.citations.unfitting, " (softmax C29)");
  for (const ArgumentInfo &argument : forward.arguments) {
    const bool isRead = argument.name == "src" || argument.name == "post0.src_1";
    EXPECT_EQ(argument.overwrittenBy, isRead ? arg::dst : 0) << argument.name;
  }
  for (const ArgumentInfo &argument :
       verified("softmax bwd_d dst=f32:8x9:ab diff_dst=f32:8x9:ab diff_src=f32:8x9:ab").arguments)
    EXPECT_EQ(argument.overwrittenBy, argument.isOutput ? 0 : arg::diffSrc) << argument.name;
}

/// The recipe is chosen when the kernel is created; the name contains only what is known before.
TEST(Verify, ImplementationsAreNamedByTheirTarget) {
  const std::string rnn =
      "rnn fwd_i cell=gru direction=left2right src_layer=f32:2x3x4:abc weights_layer=f32:1x1x4x3x4:abcde "
      "weights_iter=f32:1x1x4x3x4:abcde dst_layer=f32:2x3x4:abc";
  const char *const lines[] = {"softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab",
                               "eltwise fwd_i alg=relu src=f32:8:a dst=f32:8:a",
                               "binary alg=add src=f32:8:a src1=f32:8:a dst=f32:8:a",
                               "reorder src=f32:?x9:ab dst=f32:?x9:ba",
                               "sum scales=1 srcs=f32:8:a dst=f32:8:a",
                               "concat axis=0 srcs=f32:8:a dst=f32:8:a",
                               "gemm src=f32:8x9:ab weights=f32:9x5:ab dst=f32:8x5:ab",
                               rnn.c_str()};
  for (const char *line : lines)
    for (const char *name : {"avx2", "avx512_core_bf16", "spirv64"}) {
      Result<VerifiedProblem> problem = verify(parsed(line), *Target::parse(name));
      ASSERT_TRUE(problem) << problem.error().message;
      EXPECT_EQ(problem->implementation, concat("jit:", name)) << line;
    }
}

TEST(DeviceVerify, MissingDeviceFeaturesAreRefusedByName) {
  const Target plain = *Target::parse("spirv64"), wide = *Target::parse("spirv64:f64");
  for (std::string_view line :
       {"softmax fwd_i src=f64:8x9:ab dst=f32:8x9:ab axis=1", "reorder src=f32:8x9:ab dst=f64:8x9:ba",
        "eltwise fwd_i alg=relu src=f32:8:a dst=f32:8:a attr.post_ops=binary(alg=add,src1=f64:8:a)"}) {
    Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
    ASSERT_TRUE(desc) << desc.error().message;
    Result<VerifiedProblem> refused = verify(*desc, plain);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().status, Status::Unimplemented);
    EXPECT_NE(refused.error().message.find("is of f64, which spirv64:sg=16+32"), std::string::npos)
        << refused.error().message;
    Result<VerifiedProblem> accepted = verify(*desc, wide);
    ASSERT_TRUE(accepted) << accepted.error().message;
    EXPECT_TRUE(accepted->implementation.ends_with(":spirv64")) << accepted->implementation;
  }
}
