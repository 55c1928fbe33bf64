//===- SoftmaxVerifyTest.cpp - The constraints of softmax, by number ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each test cites constraints of Primitives/Softmax/Verify.cpp.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

struct Refusal {
  std::string_view constraint, line;
  Status status;
  std::string_view fragment;
};

PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

void expectRefused(const PrimitiveDesc &desc, Status status, std::string_view fragment, std::string_view what) {
  Result<VerifiedProblem> problem = verify(desc, Target());
  ASSERT_FALSE(problem) << what;
  EXPECT_EQ(problem.error().status, status) << what << ": " << problem.error().message;
  EXPECT_NE(problem.error().message.find(fragment), std::string::npos) << what << ": " << problem.error().message;
  EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
}

VerifiedProblem verified(std::string_view line) {
  Result<VerifiedProblem> problem = verify(parsed(line), Target{CpuIsa::Avx2});
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  return problem ? *problem : VerifiedProblem();
}

const SoftmaxDesc &softmaxOf(const VerifiedProblem &problem) { return std::get<SoftmaxDesc>(problem.desc.op); }

} // namespace

TEST(SoftmaxVerify, AcceptsWhatIsImplemented) {
  for (std::string_view line : {
           "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=1",
           "softmax fwd_t alg=log src=bf16:8x9:ab dst=f64:8x9:ba",
           "softmax fwd_i alg=accurate_inf_as_zero src=f16:8x9:s0x1 dst=bf16:8x9:s16x1:off5 axis=1",
           "softmax fwd_i src=f64:8x9:s20x2:off1 dst=f16:8x9:ab axis=1",
           "softmax fwd_i src=f32:1x2x1x2x1x2x1x2x1x2x1x2:lkjihgfedcba dst=f32:1x2x1x2x1x2x1x2x1x2x1x2:abcdefghijkl axis=11",
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
  EXPECT_EQ(problem.implementation, "jit:rows:avx2");
}

TEST(SoftmaxVerify, ZeroDimsAreANoop) { EXPECT_TRUE(verified("softmax fwd_i src=f32:8x0:ab dst=f32:8x0:any axis=1").isNoop); }

// C4
TEST(SoftmaxVerify, DstOfLayoutAnyFollowsSrc) {
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9x3:cab dst=bf16:8x9x3:any")).dst.tag(), "cab");
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9:s20x2:off3 dst=f32:8x9:any")).dst.tag(), "ab");
  EXPECT_EQ(softmaxOf(verified("softmax fwd_i src=f32:8x9:s0x1 dst=f32:8x9:any")).dst.hasBroadcast(), false);
}

TEST(SoftmaxVerify, RefusesByNumber) {
  constexpr Status invalid = Status::InvalidArguments, unsupported = Status::Unimplemented;
  const Refusal refusals[] = {
      {"C1", "softmax src=f32:8x9:ab dst=f32:8x9:ab", invalid, "propagation kind 'undef' (0)"},
      {"C1", "softmax bwd_w src=f32:8x9:ab dst=f32:8x9:ab", invalid, "propagation kind 'bwd_w' (192)"},
      {"C2", "softmax fwd_i alg=eltwise_relu src=f32:8x9:ab dst=f32:8x9:ab", invalid, "algorithm 'eltwise_relu' (32)"},
      {"C3", "softmax fwd_i dst=f32:8x9:ab", invalid, "softmax needs src"},
      {"C3", "softmax fwd_i src=f32:8x9:ab", invalid, "softmax needs dst"},
      {"C3", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab diff_dst=f32:8x9:ab", invalid, "forward softmax takes no diff_dst"},
      {"C3", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab diff_src=f32:8x9:ab", invalid, "forward softmax takes no diff_src"},
      {"C4", "softmax fwd_i src=f32:8x9:any dst=f32:8x9:ab", invalid, "src has layout `any`"},
      {"C5", "softmax fwd_i src=f32:8x9:ab dst=f32:8x10:ab", invalid, "dim 1 of dst is 10, of src 9"},
      {"C5", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9x1:abc", invalid, "dst is of rank 3, src of rank 2"},
      {"C6", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=2", invalid, "axis is 2; a tensor of rank 2 allows 0 to 1"},
      {"C6", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=-1", invalid, "axis is -1"},
      {"C7", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:s0x1", invalid, "dst has stride 0"},
      {"C8", "softmax bwd_d dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab", unsupported, "backward propagation"},
      {"C8", "softmax bwd dst=f32:8x9:ab diff_src=f32:8x9:ab diff_dst=f32:8x9:ab", unsupported, "backward propagation"},
      {"C9", "softmax fwd_i src=s8:8x9:ab dst=f32:8x9:ab", unsupported, "src of type s8"},
      {"C9", "softmax fwd_i src=f32:8x9:ab dst=f8_e4m3:8x9:ab", unsupported, "dst of type f8_e4m3"},
      {"C9", "softmax fwd_i src=f32:8x9:ab dst=u8:8x9:any", unsupported, "dst of type u8"},
      {"C10", "softmax fwd_i src=f32:8x9:aB16b dst=f32:8x9:ab", unsupported, "src has 1 inner blocks"},
      {"C10", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:s16x1:pad8x16", unsupported, "dim 1 of dst is 9, padded to 16"},
      {"C10", "softmax fwd_i src=f32:?x9:ab dst=f32:?x9:ab", unsupported, "runtime dims, which src has"},
      {"C10", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab:off?", unsupported, "runtime dims, which dst has"},
      {"C10", "softmax fwd_i src=f32:8x9:ab:s8s8@1 dst=f32:8x9:ab", unsupported, "the flags of src are 1"},
      {"C11", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.scales=dst", unsupported, "scales, which argument 17 has"},
      {"C11", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.zero_points=src", unsupported, "zero points, which argument 1 has"},
      {"C11", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.post_ops=sum", unsupported, "1 are given, the first is sum"},
      {"C11", "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.rnn.data_scale=2", unsupported, "RNN quantization"},
  };
  for (const Refusal &one : refusals)
    expectRefused(parsed(one.line), one.status, one.fragment, one.constraint);
}

TEST(Verify, TensorsAndAttributesAreCheckedBeforeAnything) {
  PrimitiveDesc desc = parsed("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab");
  std::get<SoftmaxDesc>(desc.op).dst.innerBlockCount = 99;
  expectRefused(desc, Status::InvalidArguments, "dst: a tensor has 99 inner blocks", "tensor");
  desc = parsed("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab");
  desc.attr.scales[1].mask = -1;
  expectRefused(desc, Status::InvalidArguments, "scales mask is -1", "attribute");
}

TEST(Verify, OtherPrimitivesAreRefusedByName) {
  expectRefused(parsed("reorder src=f32:8x9:ab dst=f32:8x9:ba"), Status::Unimplemented, "primitive reorder has no implementation", "");
  expectRefused(parsed("rnn fwd_i cell=lstm"), Status::Unimplemented, "primitive rnn has no implementation", "");
}
