//===- EltwiseVerifyTest.cpp - The constraints of eltwise, by number ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests every constraint of lib/Primitives/Eltwise/Verify.cpp with a line that violates it and one that does not.
//
//===----------------------------------------------------------------------===//
#include "VerifySupport.h"

using namespace quern;
using namespace quern::test;

namespace {

VerifiedProblem verified(std::string_view line, const PrimitiveDesc *hint) {
  Result<VerifiedProblem> problem = verify(parsed(line), Target(), hint);
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  return problem ? std::move(*problem) : VerifiedProblem();
}

const EltwiseDesc &eltwiseOf(const VerifiedProblem &problem) { return std::get<EltwiseDesc>(problem.desc.op); }

} // namespace

TEST(EltwiseVerify, RefusesWhatIsInvalidByNumber) {
  const Refusal refusals[] = {
      {"C2", "eltwise alg=relu src=f32:4x8:ab dst=f32:4x8:ab", invalid,
       "propagation kind 'undef' (0) is not one of eltwise:"},
      {"C2", "eltwise bwd_w alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", invalid,
       "propagation kind 'bwd_w' (192) is not one of"},
      {"C2", "eltwise bwd_d alg=round src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", invalid,
       "algorithm eltwise_round has no derivative; it is"},
      {"C3", "eltwise fwd_i src=f32:4x8:ab dst=f32:4x8:ab", invalid,
       "algorithm 'undef' (0) is not an eltwise algorithm"},
      {"C3", "eltwise fwd_i alg=binary_add src=f32:4x8:ab dst=f32:4x8:ab", invalid,
       "algorithm 'binary_add' (131056) is not an eltwise algorithm"},
      {"C4", "eltwise fwd_i alg=clip alpha=2 beta=1 src=f32:4x8:ab dst=f32:4x8:ab", invalid,
       "alpha is 2, beta 1; eltwise_clip needs alpha <="},
      {"C4", "eltwise fwd_i alg=clip_v2 alpha=nan src=f32:4x8:ab dst=f32:4x8:ab", invalid,
       "alpha is nan, beta 0; eltwise_clip_v2 needs alpha"},
      {"C4", "eltwise bwd_d alg=elu_use_dst_for_bwd alpha=-1 dst=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab",
       invalid, "alpha is -1; eltwise_elu_use_dst_for_bwd needs"},
      {"C5", "eltwise fwd_i alg=relu src=f32:4x8:ab", invalid, "forward eltwise_relu needs dst, which is absent"},
      {"C5", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab diff_src=f32:4x8:ab", invalid,
       "forward eltwise_relu does not use diff_src"},
      {"C5", "eltwise bwd_d alg=relu dst=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", invalid,
       "backward eltwise_relu needs src, which is absent"},
      {"C5", "eltwise bwd_d alg=relu_use_dst_for_bwd src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", invalid,
       "backward eltwise_relu_use_dst_for_bwd does not use src"},
      {"C6", "eltwise fwd_i alg=relu src=f32:4x8:any dst=f32:4x8:ab", invalid,
       "src has layout `any`; src of forward eltwise needs a known layout"},
      {"C6", "eltwise fwd_i alg=relu src=f32:4x8:s?x1 dst=f32:4x8:any", invalid,
       "dst has layout `any`, which cannot follow src: its"},
      {"C6", "eltwise bwd_d alg=relu src=f32:4x8:any diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", invalid,
       "src has layout `any`; backward eltwise takes it"},
      {"C7", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x9:ab", invalid, "dim 1 of dst is 9; in src it is 8"},
      {"C7", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8x1:abc", invalid, "dst is of rank 3, src of rank 2"},
      {"C7", "eltwise fwd_i alg=relu src=f32:?x8:ab dst=f32:4x8:ab", invalid,
       "dim 0 of dst is 4; in src it is known only at execution"},
      {"C8", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:s0x1", invalid,
       "dst has stride 0 over dim 0, which is longer than"},
      {"C10", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=binary(alg=add,src1=f32:4x9:ab)",
       invalid, "dim 1 of post0.src_1 is 9; it must be 1 or dst's 8"},
      {"C27", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.dropout.seed=s32 attr.dropout.mask=u8:8x4:ab",
       invalid, "the mask of dropout is u8:8x4:ab; it must have the dims of dst"},
      {"C27", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.dropout.seed=s32 attr.dropout.mask=u8:32:a",
       invalid, "the mask of dropout is u8:32:a; it must have the dims of dst"},
      {"C11", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=weights", invalid,
       "scales of weights (argument 33) are given; the"},
      {"C11",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(mask=4) "
       "attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       invalid, "scales of post0.src_1 have mask 4; a tensor of rank"},
  };
  expectAllRefused("eltwise", refusals);
}

TEST(EltwiseVerify, RefusesWhatIsUnimplementedByNumber) {
  const Refusal refusals[] = {
      {"C15", "eltwise fwd_i alg=relu src=s4:4x8:ab dst=f32:4x8:ab", unsupported,
       "eltwise is not implemented for src of type s4; it"},
      {"C16", "eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=s8:4x8:ab diff_dst=f32:4x8:ab", unsupported,
       "backward eltwise is not implemented for diff_src of"},
      {"C17", "eltwise fwd_i alg=relu src=f32:?x8:aB16b dst=f32:?x8:ab", unsupported,
       "eltwise is not implemented for inner blocks in src,"},
      {"C18", "eltwise fwd_i alg=relu src=s8:4x8:ab:s8s8 dst=f32:4x8:ab", unsupported,
       "eltwise is not implemented for compensation in src;"},
      {"C19", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:s64x1:pad4x64:at0x1", unsupported,
       "eltwise is not implemented for padded offsets; that"},
      {"C20", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=src", unsupported,
       "eltwise is not implemented with scales of src"},
      {"C20", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=s8:4x8:ab attr.zero_points=dst(type=s32)", unsupported,
       "eltwise is not implemented with zero points of dst"},
      {"C21",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(mask=3,groups=1x8) "
       "attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       unsupported, "eltwise is not implemented with groups of"},
      {"C21",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(type=s8) "
       "attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       unsupported, "scales of post0.src_1 are of type s8; eltwise supports"},
      {"C22", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=sum", unsupported,
       "eltwise is not implemented with a post-op sum,"},
      {"C23", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=binary(alg=add,src1=s4:4x8:ab)",
       unsupported, "eltwise is not implemented for post0.src_1 of type"},
      {"C24",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_2 "
       "attr.post_ops=binary(alg=select,src1=f32:4x8:ab,src2=u8:4x8:ab)",
       unsupported, "eltwise is not implemented with scales of"},
      {"C25", "eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.scales=src",
       unsupported, "backward eltwise does not support scales; src has some"},
      {"C25", "eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.zero_points=src",
       unsupported, "backward eltwise does not support zero points; src has"},
      {"C25", "eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.post_ops=sum",
       unsupported, "backward eltwise does not support post-ops; 1 are given,"},
      {"C25", "eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.dropout.seed=s32",
       unsupported, "backward eltwise does not support dropout"},
      {"C26", "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.rnn.data_scale=2", unsupported,
       "eltwise does not support RNN quantization parameters"},
      {"C28", "eltwise fwd_i alg=relu src=f32:4x8:ba dst=f32:4x8:ba attr.dropout.seed=s64 attr.dropout.mask=u8:4x8:ba",
       unsupported, "eltwise is not implemented with a dropout mask of u8:4x8:ba"},
      {"C28",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.dropout.seed=s64 attr.dropout.mask=u8:4x8:s9x1",
       unsupported, "eltwise is not implemented with a dropout mask of u8:4x8:s9x1"},
      {"C28",
       "eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.dropout.seed=s64 attr.dropout.mask=u8:4x8:aB16b",
       unsupported, "eltwise is not implemented with a dropout mask of u8:4x8:aB16b"},
      {"C28", "eltwise fwd_i alg=relu src=f32:?x8:ab dst=f32:?x8:ab attr.dropout.seed=s64", unsupported,
       "eltwise is not implemented with dropout if sizes are known only at execution"},
  };
  expectAllRefused("eltwise", refusals);
}

TEST(EltwiseVerify, TensorsAreWellFormed) {
  PrimitiveDesc desc = parsed("eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab");
  std::get<EltwiseDesc>(desc.op).dst.innerBlockCount = 99;
  Result<VerifiedProblem> problem = verify(desc, Target());
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("(eltwise C1)"), std::string::npos) << problem.error().message;
}

TEST(EltwiseVerify, AHintMustFit) {
  std::string_view backward = "eltwise bwd_d alg=relu src=f32:4x8:any diff_src=f32:4x8:any diff_dst=bf16:4x8:any";
  PrimitiveDesc forward = verified("eltwise fwd_t alg=relu src=f32:4x8:s16x1:off3 dst=f32:4x8:ba").desc;
  VerifiedProblem problem = verified(backward, &forward);
  EXPECT_EQ(problem.desc.text(),
            "eltwise bwd_d alg=relu src=f32:4x8:s16x1:off3 diff_src=f32:4x8:ab diff_dst=bf16:4x8:ab");
  VerifiedProblem ofDst = verified(
      "eltwise bwd_d alg=tanh_use_dst_for_bwd dst=f32:4x8:any diff_src=f32:4x8:any diff_dst=f32:4x8:ab", &forward);
  EXPECT_EQ(eltwiseOf(ofDst).dst, std::get<EltwiseDesc>(forward.op).dst);
  PrimitiveDesc other = verified("eltwise fwd_t alg=relu src=f32:4x9:ab dst=f32:4x9:ab").desc;
  PrimitiveDesc softmax = verified("softmax fwd_t src=f32:4x8:ab dst=f32:4x8:ab axis=1").desc;
  const std::pair<const PrimitiveDesc *, std::string_view> hints[] = {
      {&other, "the hint's src does not have the dims of src (eltwise C9)"},
      {&softmax, "it must be a forward eltwise (eltwise C9)"},
      {&problem.desc, "it must be a forward eltwise (eltwise C9)"}};
  for (const auto &[hint, words] : hints) {
    Result<VerifiedProblem> refused = verify(parsed(backward), Target(), hint);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, invalid);
    EXPECT_TRUE(refused.error().message.ends_with(words)) << refused.error().message;
  }
}

TEST(EltwiseVerify, AcceptsEveryTypeAndAlgorithm) {
  constexpr std::string_view types[] = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s32", "s8", "u8"};
  for (std::string_view from : types)
    for (std::string_view to : types) {
      verified(concat("eltwise fwd_i alg=relu src=", from, ":4x8:ab dst=", to,
                      ":4x8:ab attr.post_ops=binary(alg=add,src1=", to, ":4x1:ab)"));
      bool isFloat = from[0] != 's' && from[0] != 'u' && to[0] != 's' && to[0] != 'u';
      if (isFloat)
        verified(concat("eltwise bwd alg=relu src=f32:4x8:ab diff_src=", to, ":4x8:ab diff_dst=", from, ":4x8:ba"));
    }
  for (int32_t alg = static_cast<int32_t>(Alg::EltwiseRelu); alg <= static_cast<int32_t>(Alg::EltwiseHardswish); ++alg)
    verified(concat("eltwise fwd_t alg=", nameOf(static_cast<Alg>(alg)), " beta=1 src=f32:4x8:ab dst=f32:4x8:any"));
}

TEST(EltwiseVerify, ListsArguments) {
  VerifiedProblem forward =
      verified("eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:any attr.post_ops=binary(alg=add,src1=f32:4x1:any)");
  ASSERT_EQ(forward.arguments.size(), 3u);
  EXPECT_EQ(forward.arguments[2].name, "post0.src_1");
  EXPECT_TRUE(forward.arguments[1].isOutput && !forward.isNoop);
  VerifiedProblem backward =
      verified("eltwise bwd_d alg=exp_use_dst_for_bwd dst=f32:0x8:ab diff_src=f32:0x8:ab diff_dst=f32:0x8:ab");
  ASSERT_EQ(backward.arguments.size(), 3u);
  EXPECT_EQ(backward.arguments[0].name, "dst");
  EXPECT_EQ(backward.arguments[1].name, "diff_dst");
  EXPECT_TRUE(backward.arguments[2].isOutput && backward.isNoop);
}
