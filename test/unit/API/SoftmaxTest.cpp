//===- SoftmaxTest.cpp - Softmax descriptors through the API --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests forward and backward: resolved layouts, arguments that attributes add, hints and scratchpads.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

using dt = memory::data_type;

class SoftmaxTest : public testing::Test {
protected:
  softmax_forward::primitive_desc forward(const memory::desc &src, const memory::desc &dst,
                                          const primitive_attr &attr = {}) {
    return {device, prop_kind::forward_training, algorithm::softmax_accurate, src, dst, 1, attr};
  }
  softmax_backward::primitive_desc backward(const memory::desc &dst, const memory::desc &diffDst,
                                            const memory::desc &diffSrc,
                                            const softmax_forward::primitive_desc &hint = {}, int axis = 1) {
    return {device, algorithm::softmax_accurate, diffSrc, diffDst, dst, axis, hint};
  }
  static int count(const primitive_desc &desc, quern_query_t what) {
    return quern_primitive_desc_query_s32(desc.get(), what, 0);
  }
  /// Returns the status of the creation of a backward problem, and checks that its message cites `constraint`.
  template <typename Body> static quern_status_t refused(Body &&body, const std::string &constraint) {
    const quern_status_t status = test::statusOf(body);
    EXPECT_NE(std::string(quern_get_last_error_message()).find("(softmax " + constraint + ")"), std::string::npos)
        << quern_get_last_error_message();
    return status;
  }

  engine device{engine::kind::cpu, 0};
  memory::desc plain{{4, 16}, dt::f32, "ab"}, any{{4, 16}, dt::f32, "any"},
      strided{{4, 16}, dt::f32, memory::dims{40, 2}};
};

TEST_F(SoftmaxTest, BackwardAnswersQueries) {
  softmax_backward::primitive_desc desc = backward(plain, strided, plain);
  EXPECT_EQ(desc.get_prop_kind(), prop_kind::backward_data);
  EXPECT_EQ(desc.get_algorithm(), algorithm::softmax_accurate);
  EXPECT_EQ(desc.get_axis(), 1);
  EXPECT_EQ(count(desc, quern_query_num_of_inputs_s32), 2);
  EXPECT_EQ(count(desc, quern_query_num_of_outputs_s32), 1);
  EXPECT_EQ(desc.dst_desc(), plain);
  EXPECT_EQ(desc.diff_dst_desc(), strided);
  EXPECT_EQ(desc.diff_src_desc(), plain);
  EXPECT_TRUE(desc.src_desc().is_zero());
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_DST), plain);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_DIFF_DST), strided);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_DIFF_SRC), plain);
  EXPECT_TRUE(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_SRC).is_zero());
  EXPECT_FALSE(desc.next_impl());
  EXPECT_EQ(quern_primitive_desc_next_impl(desc.get()), quern_last_impl_reached);
}

TEST_F(SoftmaxTest, AnyFollowsTheTensorBefore) {
  memory::desc permuted({4, 16}, dt::f32, "ba");
  softmax_backward::primitive_desc desc = backward(permuted, any, any);
  EXPECT_EQ(desc.diff_dst_desc(), permuted);
  EXPECT_EQ(desc.diff_src_desc(), permuted);
  desc = backward(permuted, strided, any);
  EXPECT_EQ(desc.diff_src_desc(), plain) << "diff_src gets the layout of diff_dst without gaps";
  desc = backward(any, any, any, forward(plain, strided));
  EXPECT_EQ(desc.dst_desc(), strided) << "dst must have the layout that the forward primitive wrote";
  EXPECT_EQ(desc.diff_dst_desc(), plain);
}

TEST_F(SoftmaxTest, AHintMustFit) {
  softmax_forward::primitive_desc hint = forward(plain, plain);
  memory::desc other({4, 17}, dt::f32, "ab");
  EXPECT_EQ(refused([&] { backward(any, plain, plain); }, "C5"), quern_invalid_arguments);
  EXPECT_EQ(refused([&] { backward(other, other, other, hint); }, "C9"), quern_invalid_arguments);
  EXPECT_EQ(refused([&] { backward(plain, plain, plain, hint, 0); }, "C9"), quern_invalid_arguments);
  EXPECT_EQ(
      refused([&] { softmax_backward::primitive_desc(device, algorithm::softmax_log, plain, plain, plain, 1, hint); },
              "C9"),
      quern_invalid_arguments);
  quern_primitive_desc_t raw = nullptr;
  softmax_backward::primitive_desc backwardHint = backward(plain, plain, plain);
  EXPECT_EQ(quern_softmax_backward_primitive_desc_create(&raw, device.get(), quern_softmax_accurate, plain.get(),
                                                         plain.get(), plain.get(), 1, backwardHint.get(), nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(raw, nullptr);
  softmax_backward::primitive_desc fits(device, algorithm::softmax_accurate_inf_as_zero, plain, plain, plain, 1, hint);
  EXPECT_TRUE(fits) << "accurate and accurate_inf_as_zero have the same gradient";
}

TEST_F(SoftmaxTest, AttributesAddArguments) {
  memory::desc operand({4, 1}, dt::s8, "ab"), anyOperand({1, 16}, dt::bf16, "any"), condition({1, 1}, dt::u8, "ab");
  const int first = QUERN_ARG_ATTR_MULTIPLE_POST_OP(0) | QUERN_ARG_SRC_1,
            third = QUERN_ARG_ATTR_MULTIPLE_POST_OP(2) | QUERN_ARG_SRC_1;
  post_ops ops;
  ops.append_binary(algorithm::binary_mul, operand);
  ops.append_eltwise(algorithm::eltwise_tanh, 0, 0);
  ops.append_binary(algorithm::binary_select, anyOperand, condition);
  primitive_attr attr;
  attr.set_post_ops(ops);
  attr.set_scales_mask(QUERN_ARG_SRC, 0);
  attr.set_scales(QUERN_ARG_DST, 0, {}, dt::f16);
  attr.set_scales_mask(first, 1);
  attr.set_zero_points_mask(first, 0);
  softmax_forward::primitive_desc desc = forward(plain, plain, attr);
  auto execArg = [&](int index) { return desc.query_md(quern_query_exec_arg_md, index); };
  EXPECT_EQ(execArg(first), operand);
  EXPECT_EQ(execArg(third), memory::desc({1, 16}, dt::bf16, "ab")) << "`any` is dense row-major";
  EXPECT_EQ(execArg(QUERN_ARG_ATTR_MULTIPLE_POST_OP(2) | QUERN_ARG_SRC_2), condition);
  EXPECT_EQ(execArg(QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC), memory::desc({1}, dt::f32, "a"));
  EXPECT_EQ(execArg(QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST), memory::desc({1}, dt::f16, "a"));
  EXPECT_EQ(execArg(QUERN_ARG_ATTR_SCALES | first), memory::desc({4}, dt::f32, "a"));
  EXPECT_EQ(execArg(QUERN_ARG_ATTR_ZERO_POINTS | first), memory::desc({1}, dt::s32, "a"));
  EXPECT_TRUE(execArg(QUERN_ARG_ATTR_SCALES | third).is_zero());
  EXPECT_EQ(count(desc, quern_query_num_of_inputs_s32), 4)
      << "src and three tensors of post-ops; quantization is not counted";
  EXPECT_EQ(count(desc, quern_query_num_of_outputs_s32), 1);
}

TEST_F(SoftmaxTest, RefusesByNumber) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_DST, 2);
  EXPECT_EQ(refused([&] { forward(plain, plain, attr); }, "C18"), quern_unimplemented);
  attr = {};
  attr.set_zero_points_mask(QUERN_ARG_DST, 0);
  EXPECT_EQ(refused([&] { forward(plain, plain, attr); }, "C21"), quern_unimplemented);
  post_ops ops;
  ops.append_sum();
  attr = {};
  attr.set_post_ops(ops);
  EXPECT_EQ(refused([&] { forward(plain, plain, attr); }, "C22"), quern_unimplemented);
  EXPECT_EQ(refused([&] { forward(any, plain); }, "C5"), quern_invalid_arguments);
  EXPECT_EQ(
      refused(
          [&] { softmax_forward::primitive_desc(device, prop_kind::forward, algorithm::softmax_log, plain, plain, 2); },
          "C7"),
      quern_invalid_arguments);
}

TEST_F(SoftmaxTest, ScratchpadsAreTheCallersOrCounted) {
  softmax_forward::primitive_desc library = forward(plain, plain);
  EXPECT_TRUE(library.scratchpad_desc().is_zero());
  const int64_t bytes = library.memory_consumption();
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  softmax_forward::primitive_desc user = forward(plain, plain, attr);
  EXPECT_EQ(user.memory_consumption(), 0);
  EXPECT_EQ(static_cast<int64_t>(user.scratchpad_desc().get_size()), bytes);
  EXPECT_EQ(user.query_md(quern_query_exec_arg_md, QUERN_ARG_SCRATCHPAD), user.scratchpad_desc());
}

TEST_F(SoftmaxTest, EmptyTensorsRunNothing) {
  memory::desc empty({0, 16}, dt::f32, "ab"), row({1, 16}, dt::f32, "ab");
  post_ops ops;
  ops.append_binary(algorithm::binary_add, row);
  primitive_attr attr;
  attr.set_post_ops(ops);
  softmax_forward::primitive_desc desc = forward(empty, empty, attr);
  float values[16] = {};
  primitive(desc).execute(stream(device),
                          {{QUERN_ARG_SRC, memory(empty, device, nullptr)},
                           {QUERN_ARG_DST, memory(empty, device, nullptr)},
                           {QUERN_ARG_ATTR_MULTIPLE_POST_OP(0) | QUERN_ARG_SRC_1, memory(row, device, values)}});
  softmax_backward::primitive_desc back = backward(empty, empty, empty, forward(empty, empty));
  primitive(back).execute(stream(device), {{QUERN_ARG_DST, memory(empty, device, nullptr)},
                                           {QUERN_ARG_DIFF_DST, memory(empty, device, nullptr)},
                                           {QUERN_ARG_DIFF_SRC, memory(empty, device, nullptr)}});
}

} // namespace
} // namespace quern
