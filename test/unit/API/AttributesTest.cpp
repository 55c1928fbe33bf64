//===- AttributesTest.cpp - Attributes and post-ops through the API -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that every setter has a getter that returns the value, and that clones are independent.
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
  for (fpmath_mode mode :
       {fpmath_mode::bf16, fpmath_mode::f16, fpmath_mode::tf32, fpmath_mode::any, fpmath_mode::strict}) {
    attr.set_fpmath_mode(mode, true);
    quern_fpmath_mode_t got;
    int applies = 0;
    ASSERT_EQ(quern_primitive_attr_get_fpmath_mode_v2(attr.get(), &got, &applies), quern_success);
    EXPECT_EQ(static_cast<fpmath_mode>(got), mode);
    EXPECT_EQ(applies, 1);
  }
  for (accumulation_mode mode : {accumulation_mode::relaxed, accumulation_mode::any, accumulation_mode::s32,
                                 accumulation_mode::f32, accumulation_mode::f16, accumulation_mode::strict}) {
    attr.set_accumulation_mode(mode);
    EXPECT_EQ(attr.get_accumulation_mode(), mode);
  }
  attr.set_scratchpad_mode(scratchpad_mode::user);
  EXPECT_EQ(attr.get_scratchpad_mode(), scratchpad_mode::user);
  attr.set_deterministic(true);
  EXPECT_TRUE(attr.get_deterministic());
  EXPECT_EQ(attr.get_tiers(), tiers::by_default);
  attr.set_tiers(tiers::family);
  EXPECT_EQ(attr.get_tiers(), tiers::family);
}

TEST(Attributes, DefaultFpmathMode) {
  set_default_fpmath_mode(fpmath_mode::bf16);
  EXPECT_EQ(get_default_fpmath_mode(), fpmath_mode::bf16);
  EXPECT_EQ(primitive_attr().get_fpmath_mode(), fpmath_mode::bf16);
  engine device(engine::kind::cpu, 0);
  memory::desc md({2, 4}, memory::data_type::f32, "ab");
  quern_primitive_desc_t raw = nullptr;
  ASSERT_EQ(quern_success, quern_softmax_forward_primitive_desc_create(
                               &raw, device.get(), quern_forward, quern_softmax_log, md.get(), md.get(), 1, nullptr));
  EXPECT_EQ(primitive_desc(raw).get_primitive_attr().get_fpmath_mode(), fpmath_mode::bf16)
      << "null means default attributes";
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
  ASSERT_EQ(quern_primitive_attr_get_scales(attr.get(), QUERN_ARG_WEIGHTS, &mask, &count, groups, &type),
            quern_success);
  EXPECT_EQ(mask, 3);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(groups[0], 32);
  EXPECT_EQ(groups[1], 1);
  EXPECT_EQ(type, quern_bf16);
  EXPECT_EQ(quern_primitive_attr_get_scales(attr.get(), QUERN_ARG_DST, &mask, nullptr, nullptr, nullptr),
            quern_not_required);
  ASSERT_EQ(quern_primitive_attr_get_zero_points(attr.get(), QUERN_ARG_DST, &mask, nullptr, nullptr, &type),
            quern_success);
  EXPECT_EQ(mask, 1);
  EXPECT_EQ(type, quern_s32);
  ASSERT_EQ(quern_primitive_attr_get_zero_points(attr.get(), QUERN_ARG_WEIGHTS, nullptr, &count, groups, &type),
            quern_success);
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
  using kind = primitive::kind;
  const kind kinds[] = {kind::sum, kind::eltwise, kind::binary, kind::binary, kind::prelu, kind::undef};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(ops.kind(i), kinds[i]);
  primitive_attr attr;
  attr.set_post_ops(ops);
  ops.append_prelu(1);
  post_ops kept = attr.get_post_ops();
  EXPECT_EQ(kept.len(), 5) << "set_post_ops() copies the post-ops";

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

TEST(PostOpsTest, RefusesMoreThan32) {
  post_ops ops;
  for (int i = 0; i < 32; ++i)
    ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
  EXPECT_EQ(test::statusOf([&] { ops.append_sum(); }), quern_out_of_memory);
  EXPECT_EQ(ops.len(), 32);
}

TEST(AttributesTest, HostScalars) {
  engine device(engine::kind::cpu, 0);
  const memory::desc wide({2, 3}, memory::data_type::f32, "ab"), narrow({2, 3}, memory::data_type::s8, "ab");
  primitive_attr attr;
  attr.set_host_scale(QUERN_ARG_DST);
  attr.set_host_zero_point(QUERN_ARG_DST);
  EXPECT_EQ(quern_primitive_attr_is_on_host(attr.get(), QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST), 1);
  EXPECT_EQ(quern_primitive_attr_is_on_host(attr.get(), QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_DST), 1);
  EXPECT_EQ(quern_primitive_attr_is_on_host(attr.get(), QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC), 0);
  reorder::primitive_desc desc(device, wide, device, narrow, attr);
  const memory::desc scaleDesc = desc.query_md(query::exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST);
  EXPECT_EQ(scaleDesc, memory::desc::host_scalar(memory::data_type::f32));
  EXPECT_NE(desc.text().find("attr.scales=dst(host=true) attr.zero_points=dst(type=s32,host=true)"), std::string::npos)
      << desc.text();
  EXPECT_EQ(primitive_desc(device, desc.text()).text(), desc.text());

  memory scale(scaleDesc, 0.5f);
  EXPECT_EQ(scale.get_host_scalar_value<float>(), 0.5f);
  scale.set_host_scalar_value(1.0f);
  EXPECT_EQ(scale.get_host_scalar_value<float>(), 1.0f);
  EXPECT_EQ(*scale.map_data<float>(), 1.0f);
  EXPECT_EQ(test::statusOf([&] { memory(scaleDesc, 1.0); }), quern_invalid_arguments)
      << "a double is not accepted for f32";
}

/// The setters keep these attributes; every primitive refuses them.
TEST(AttributesTest, UnimplementedAttributesAreStoredAndRefused) {
  engine device(engine::kind::cpu, 0);
  const memory::desc data({4, 32}, memory::data_type::f32, "ab"), mask({4, 32}, memory::data_type::u8, "ab");
  const auto status = [&](const primitive_attr &attr) {
    return test::statusOf([&] { reorder::primitive_desc(device, data, device, data, attr); });
  };
  EXPECT_EQ(status(primitive_attr()), quern_success) << "the problem without these attributes is supported";
  primitive_attr rounding, dropout, dynamic, reductions, depthwise;
  quern_rounding_mode_t mode;
  ASSERT_EQ(quern_primitive_attr_set_rounding(rounding.get(), QUERN_ARG_DST, quern_rounding_mode_stochastic),
            quern_success);
  ASSERT_EQ(quern_primitive_attr_get_rounding(rounding.get(), QUERN_ARG_DST, &mode), quern_success);
  EXPECT_EQ(mode, quern_rounding_mode_stochastic);
  EXPECT_EQ(status(rounding), quern_unimplemented);
  ASSERT_EQ(quern_primitive_attr_set_rounding(rounding.get(), QUERN_ARG_DST, quern_rounding_mode_environment),
            quern_success);
  ASSERT_EQ(quern_primitive_attr_get_rounding(rounding.get(), QUERN_ARG_DST, &mode), quern_success);
  EXPECT_EQ(mode, quern_rounding_mode_environment);
  EXPECT_EQ(status(rounding), quern_success);

  const_quern_memory_desc_t kept = nullptr;
  quern_data_type_t seeds;
  int usesOffset = 0, usesHostScalars = 0;
  ASSERT_EQ(quern_primitive_attr_set_dropout(dropout.get(), mask.get()), quern_success);
  ASSERT_EQ(quern_primitive_attr_get_dropout(dropout.get(), &kept), quern_success);
  EXPECT_TRUE(quern_memory_desc_equal(kept, mask.get()));
  EXPECT_EQ(status(dropout), quern_unimplemented);
  const auto s64 = static_cast<quern_data_type_t>(16);
  ASSERT_EQ(quern_primitive_attr_set_dropout_v2(dropout.get(), mask.get(), s64, 1, 1), quern_success);
  const primitive_attr copy = [&] {
    quern_primitive_attr_t cloned = nullptr;
    EXPECT_EQ(quern_primitive_attr_clone(&cloned, dropout.get()), quern_success);
    return primitive_attr(cloned);
  }();
  ASSERT_EQ(quern_primitive_attr_set_dropout(dropout.get(), memory::desc().get()), quern_success);
  EXPECT_EQ(status(dropout), quern_unimplemented) << "dropout without a mask";
  ASSERT_EQ(quern_primitive_attr_get_dropout_v2(copy.get(), &kept, &seeds, &usesOffset, &usesHostScalars),
            quern_success);
  EXPECT_EQ(std::vector<int>({seeds, usesOffset, usesHostScalars}), std::vector<int>({16, 1, 1}));

  const quern_dims_t groups = {1, 32};
  const auto mx = quern_quantization_mode_dynamic_mx;
  ASSERT_EQ(quern_primitive_attr_set_scales_v3(dynamic.get(), QUERN_ARG_DST, 3, 2, groups, quern_e8m0, 0, mx),
            quern_success);
  EXPECT_EQ(status(dynamic), quern_unimplemented);
  ASSERT_EQ(quern_primitive_attr_set_precomputed_reductions(reductions.get(), QUERN_ARG_SRC, 3, 2, groups, quern_s32),
            quern_success);
  EXPECT_EQ(status(reductions), quern_unimplemented);

  post_ops ops;
  ASSERT_EQ(quern_post_ops_append_dw(ops.get(), quern_f32, quern_data_type_undef, quern_f32, 3, 1, 1), quern_success);
  EXPECT_EQ(ops.kind(0), primitive::kind::convolution);
  quern_dim_t kernel = 0, stride = 0, padding = 0;
  ASSERT_EQ(quern_post_ops_get_params_dw(ops.get(), 0, nullptr, nullptr, &seeds, &kernel, &stride, &padding),
            quern_success);
  EXPECT_EQ(std::vector<int64_t>({seeds, kernel, stride, padding}), std::vector<int64_t>({quern_f32, 3, 1, 1}));
  depthwise.set_post_ops(ops);
  EXPECT_EQ(status(depthwise), quern_unimplemented);
}

} // namespace
} // namespace quern
