//===- AttributesTest.cpp - Attributes and post-ops through the API -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every setter with its getter; clones are independent.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

TEST(Attributes, Defaults) {
  primitive_attr attr;
  EXPECT_EQ(attr.get_fpmath_mode(), fpmath_mode::strict);
  EXPECT_EQ(attr.get_accumulation_mode(), accumulation_mode::strict);
  EXPECT_EQ(attr.get_scratchpad_mode(), scratchpad_mode::library);
  EXPECT_FALSE(attr.get_deterministic());
  EXPECT_EQ(attr.get_post_ops().len(), 0);
  float scale = 0, shift = 1;
  attr.get_rnn_data_qparams(scale, shift);
  EXPECT_EQ(scale, 1);
  EXPECT_EQ(shift, 0);
}

TEST(Attributes, Modes) {
  primitive_attr attr;
  for (fpmath_mode mode : {fpmath_mode::bf16, fpmath_mode::f16, fpmath_mode::tf32, fpmath_mode::any, fpmath_mode::strict}) {
    attr.set_fpmath_mode(mode, true);
    quern_fpmath_mode_t got;
    int applies = 0;
    ASSERT_EQ(quern_primitive_attr_get_fpmath_mode_v2(attr.get(), &got, &applies), quern_success);
    EXPECT_EQ(static_cast<fpmath_mode>(got), mode);
    EXPECT_EQ(applies, 1);
  }
  for (accumulation_mode mode : {accumulation_mode::relaxed, accumulation_mode::any, accumulation_mode::s32, accumulation_mode::f32,
                                 accumulation_mode::f16, accumulation_mode::strict}) {
    attr.set_accumulation_mode(mode);
    EXPECT_EQ(attr.get_accumulation_mode(), mode);
  }
  attr.set_scratchpad_mode(scratchpad_mode::user);
  EXPECT_EQ(attr.get_scratchpad_mode(), scratchpad_mode::user);
  attr.set_deterministic(true);
  EXPECT_TRUE(attr.get_deterministic());
}

TEST(Attributes, DefaultFpmathMode) {
  set_default_fpmath_mode(fpmath_mode::bf16);
  EXPECT_EQ(get_default_fpmath_mode(), fpmath_mode::bf16);
  EXPECT_EQ(primitive_attr().get_fpmath_mode(), fpmath_mode::bf16);
  engine device(engine::kind::cpu, 0);
  memory::desc md({2, 4}, memory::data_type::f32, "ab");
  quern_primitive_desc_t raw = nullptr;
  ASSERT_EQ(quern_success, quern_softmax_forward_primitive_desc_create(&raw, device.get(), quern_forward, quern_softmax_log, md.get(),
                                                                       md.get(), 1, nullptr));
  EXPECT_EQ(primitive_desc(raw).get_primitive_attr().get_fpmath_mode(), fpmath_mode::bf16) << "null attributes are default ones";
  set_default_fpmath_mode(fpmath_mode::strict);
}

TEST(Attributes, ScalesAndZeroPoints) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC, 2);
  attr.set_scales(QUERN_ARG_WEIGHTS, 3, {32, 1}, memory::data_type::bf16);
  attr.set_zero_points_mask(QUERN_ARG_DST, 1);
  attr.set_zero_points(QUERN_ARG_WEIGHTS, 3, {32, 1}, memory::data_type::s8);
  int mask = 0, count = -1;
  quern_dims_t groups = {};
  quern_data_type_t type;
  ASSERT_EQ(quern_primitive_attr_get_scales(attr.get(), QUERN_ARG_SRC, &mask, &count, groups, &type), quern_success);
  EXPECT_EQ(mask, 2);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(type, quern_f32);
  ASSERT_EQ(quern_primitive_attr_get_scales(attr.get(), QUERN_ARG_WEIGHTS, &mask, &count, groups, &type), quern_success);
  EXPECT_EQ(mask, 3);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(groups[0], 32);
  EXPECT_EQ(groups[1], 1);
  EXPECT_EQ(type, quern_bf16);
  EXPECT_EQ(quern_primitive_attr_get_scales(attr.get(), QUERN_ARG_DST, &mask, nullptr, nullptr, nullptr), quern_not_required);
  ASSERT_EQ(quern_primitive_attr_get_zero_points(attr.get(), QUERN_ARG_DST, &mask, nullptr, nullptr, &type), quern_success);
  EXPECT_EQ(mask, 1);
  EXPECT_EQ(type, quern_s32);
  ASSERT_EQ(quern_primitive_attr_get_zero_points(attr.get(), QUERN_ARG_WEIGHTS, nullptr, &count, groups, &type), quern_success);
  EXPECT_EQ(type, quern_s8);
}

TEST(Attributes, RnnQuantization) {
  primitive_attr attr;
  attr.set_rnn_data_qparams(127, 64);
  float scale = 0, shift = 0;
  attr.get_rnn_data_qparams(scale, shift);
  EXPECT_EQ(scale, 127);
  EXPECT_EQ(shift, 64);
  attr.set_rnn_weights_qparams(24, {1, 2, 3, 4});
  attr.set_rnn_weights_projection_qparams(0, {5});
  quern_dim_t count = 0;
  int mask = 0;
  const float *scales = nullptr;
  ASSERT_EQ(quern_primitive_attr_get_rnn_weights_qparams(attr.get(), &count, &mask, &scales), quern_success);
  EXPECT_EQ(count, 4);
  EXPECT_EQ(mask, 24);
  EXPECT_EQ(scales[3], 4);
  ASSERT_EQ(quern_primitive_attr_get_rnn_weights_projection_qparams(attr.get(), &count, &mask, &scales), quern_success);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(scales[0], 5);
}

TEST(PostOpsTest, EveryKind) {
  memory::desc one({1, 4}, memory::data_type::f32, "ab"), two({2, 4}, memory::data_type::s8, "ab");
  post_ops ops;
  ops.append_sum(0.5f, 3, memory::data_type::s8);
  ops.append_eltwise(algorithm::eltwise_clip, -1, 1);
  ops.append_binary(algorithm::binary_mul, one);
  ops.append_binary(algorithm::binary_select, one, two);
  ops.append_prelu(2);
  ASSERT_EQ(ops.len(), 5);
  const quern_primitive_kind_t kinds[] = {quern_sum, quern_eltwise, quern_binary, quern_binary, quern_prelu, quern_undefined_primitive};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(ops.kind(i), kinds[i]);
  primitive_attr attr;
  attr.set_post_ops(ops);
  ops.append_prelu(1);
  post_ops kept = attr.get_post_ops();
  EXPECT_EQ(kept.len(), 5) << "set_post_ops copies";

  float a = 0, b = 0;
  int32_t zero = 0;
  int mask = 0;
  quern_data_type_t type;
  quern_alg_kind_t alg;
  const_quern_memory_desc_t src1, src2;
  ASSERT_EQ(quern_post_ops_get_params_sum(kept.get(), 0, &a, &zero, &type), quern_success);
  EXPECT_EQ(a, 0.5f);
  EXPECT_EQ(zero, 3);
  EXPECT_EQ(type, quern_s8);
  ASSERT_EQ(quern_post_ops_get_params_eltwise(kept.get(), 1, &alg, &a, &b), quern_success);
  EXPECT_EQ(alg, quern_eltwise_clip);
  EXPECT_EQ(a, -1);
  EXPECT_EQ(b, 1);
  ASSERT_EQ(quern_post_ops_get_params_binary(kept.get(), 2, &alg, &src1), quern_success);
  EXPECT_EQ(alg, quern_binary_mul);
  EXPECT_TRUE(quern_memory_desc_equal(src1, one.get()));
  ASSERT_EQ(quern_post_ops_get_params_binary_v2(kept.get(), 3, &alg, &src1, &src2), quern_success);
  EXPECT_TRUE(quern_memory_desc_equal(src2, two.get()));
  ASSERT_EQ(quern_post_ops_get_params_prelu(kept.get(), 4, &mask), quern_success);
  EXPECT_EQ(mask, 2);
}

TEST(PostOpsTest, AtMost32) {
  post_ops ops;
  for (int i = 0; i < 32; ++i)
    ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
  EXPECT_EQ(test::statusOf([&] { ops.append_sum(); }), quern_out_of_memory);
  EXPECT_EQ(ops.len(), 32);
}

} // namespace
} // namespace quern
