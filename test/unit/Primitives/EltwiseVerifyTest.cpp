//===- EltwiseVerifyTest.cpp - What the eltwise verifier says -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every constraint of lib/Primitives/Eltwise/Verify.cpp with a line that breaks it and one that does not.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

VerifiedProblem verified(std::string_view line, const PrimitiveDesc *hint = nullptr) {
  Result<VerifiedProblem> problem = verify(parsed(line), Target(), hint);
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  return problem ? std::move(*problem) : VerifiedProblem();
}

const EltwiseDesc &eltwiseOf(const VerifiedProblem &problem) { return std::get<EltwiseDesc>(problem.desc.op); }

struct Refusal {
  std::string_view line, constraint;
  Status status = Status::InvalidArguments;
};

void expectRefused(const Refusal &refusal, const PrimitiveDesc *hint = nullptr) {
  Result<VerifiedProblem> problem = verify(parsed(refusal.line), Target(), hint);
  ASSERT_FALSE(problem) << refusal.line;
  EXPECT_EQ(problem.error().status, refusal.status) << problem.error().message;
  std::string citation = concat("(eltwise ", refusal.constraint, ")");
  EXPECT_NE(problem.error().message.find(citation), std::string::npos) << problem.error().message;
  EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
}

} // namespace

TEST(EltwiseVerify, RefusesWhatIsInvalidByNumber) {
  const Refusal lines[] = {
      {"eltwise alg=relu src=f32:4x8:ab dst=f32:4x8:ab", "C2"},
      {"eltwise bwd_w alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C2"},
      {"eltwise bwd_d alg=round src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C2"},
      {"eltwise fwd_i src=f32:4x8:ab dst=f32:4x8:ab", "C3"},
      {"eltwise fwd_i alg=binary_add src=f32:4x8:ab dst=f32:4x8:ab", "C3"},
      {"eltwise fwd_i alg=clip alpha=2 beta=1 src=f32:4x8:ab dst=f32:4x8:ab", "C4"},
      {"eltwise fwd_i alg=clip_v2 alpha=nan src=f32:4x8:ab dst=f32:4x8:ab", "C4"},
      {"eltwise bwd_d alg=elu_use_dst_for_bwd alpha=-1 dst=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C4"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab", "C5"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab diff_src=f32:4x8:ab", "C5"},
      {"eltwise bwd_d alg=relu dst=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C5"},
      {"eltwise bwd_d alg=relu_use_dst_for_bwd src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C5"},
      {"eltwise fwd_i alg=relu src=f32:4x8:any dst=f32:4x8:ab", "C6"},
      {"eltwise fwd_i alg=relu src=f32:4x8:s?x1 dst=f32:4x8:any", "C6"},
      {"eltwise bwd_d alg=relu src=f32:4x8:any diff_src=f32:4x8:ab diff_dst=f32:4x8:ab", "C6"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x9:ab", "C7"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8x1:abc", "C7"},
      {"eltwise fwd_i alg=relu src=f32:?x8:ab dst=f32:4x8:ab", "C7"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:s0x1", "C8"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=binary(alg=add,src1=f32:4x9:ab)", "C10"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=weights", "C11"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(mask=4) attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       "C11"},
  };
  for (const Refusal &line : lines)
    expectRefused(line);
}

TEST(EltwiseVerify, RefusesWhatIsUnimplementedByNumber) {
  const std::pair<std::string_view, std::string_view> lines[] = {
      {"eltwise fwd_i alg=relu src=s4:4x8:ab dst=f32:4x8:ab", "C15"},
      {"eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=s8:4x8:ab diff_dst=f32:4x8:ab", "C16"},
      {"eltwise fwd_i alg=relu src=f32:?x8:aB16b dst=f32:?x8:ab", "C17"},
      {"eltwise fwd_i alg=relu src=s8:4x8:ab:s8s8 dst=f32:4x8:ab", "C18"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:s64x1:pad4x64:at0x1", "C19"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=src", "C20"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=s8:4x8:ab attr.zero_points=dst(type=s32)", "C20"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(mask=3,groups=1x8) "
       "attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       "C21"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_1(type=s8) "
       "attr.post_ops=binary(alg=add,src1=f32:4x8:ab)",
       "C21"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=sum", "C22"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.post_ops=binary(alg=add,src1=s4:4x8:ab)", "C23"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.scales=post0.src_2 "
       "attr.post_ops=binary(alg=select,src1=f32:4x8:ab,src2=u8:4x8:ab)",
       "C24"},
      {"eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.scales=src", "C25"},
      {"eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.zero_points=src", "C25"},
      {"eltwise bwd_d alg=relu src=f32:4x8:ab diff_src=f32:4x8:ab diff_dst=f32:4x8:ab attr.post_ops=sum", "C25"},
      {"eltwise fwd_i alg=relu src=f32:4x8:ab dst=f32:4x8:ab attr.rnn.data_scale=2", "C26"},
  };
  for (const auto &[line, constraint] : lines)
    expectRefused({line, constraint, Status::Unimplemented});
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
  EXPECT_EQ(problem.desc.text(), "eltwise bwd_d alg=relu src=f32:4x8:s16x1:off3 diff_src=f32:4x8:ab diff_dst=bf16:4x8:ab");
  VerifiedProblem ofDst =
      verified("eltwise bwd_d alg=tanh_use_dst_for_bwd dst=f32:4x8:any diff_src=f32:4x8:any diff_dst=f32:4x8:ab", &forward);
  EXPECT_EQ(eltwiseOf(ofDst).dst, std::get<EltwiseDesc>(forward.op).dst);
  PrimitiveDesc other = verified("eltwise fwd_t alg=relu src=f32:4x9:ab dst=f32:4x9:ab").desc;
  PrimitiveDesc softmax = verified("softmax fwd_t src=f32:4x8:ab dst=f32:4x8:ab axis=1").desc;
  for (const PrimitiveDesc *hint : {&other, &softmax, &problem.desc})
    expectRefused({backward, "C9"}, hint);
}

TEST(EltwiseVerify, AcceptsEveryTypeAndAlgorithm) {
  constexpr std::string_view types[] = {"f64", "f32", "bf16", "f16", "f8_e5m2", "f8_e4m3", "s32", "s8", "u8"};
  for (std::string_view from : types)
    for (std::string_view to : types) {
      verified(
          concat("eltwise fwd_i alg=relu src=", from, ":4x8:ab dst=", to, ":4x8:ab attr.post_ops=binary(alg=add,src1=", to, ":4x1:ab)"));
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
  VerifiedProblem backward = verified("eltwise bwd_d alg=exp_use_dst_for_bwd dst=f32:0x8:ab diff_src=f32:0x8:ab diff_dst=f32:0x8:ab");
  ASSERT_EQ(backward.arguments.size(), 3u);
  EXPECT_EQ(backward.arguments[0].name, "dst");
  EXPECT_EQ(backward.arguments[1].name, "diff_dst");
  EXPECT_TRUE(backward.arguments[2].isOutput && backward.isNoop);
}
