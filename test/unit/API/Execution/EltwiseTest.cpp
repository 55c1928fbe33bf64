//===- EltwiseTest.cpp - Eltwise through the API --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the values of real kernels: the classes, queries, forward and backward in place, and refused executions.
//
//===----------------------------------------------------------------------===//
#include "API/Execution/ReorderSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace quern {
namespace {

using dt = memory::data_type;

class EltwiseExecution : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  memory::desc md{{2, 5}, dt::f32, "ab"};
  std::vector<float> values{-4, -3, -2, -1, -0.5f, 0, 0.5f, 1, 2, 3};

  eltwise_forward::primitive_desc forward(algorithm alg, const memory::desc &src, const memory::desc &dst,
                                          float alpha = 0, float beta = 0) {
    return {device, prop_kind::forward_training, alg, src, dst, alpha, beta};
  }
  std::string refusal(const std::function<void()> &body) {
    EXPECT_EQ(test::statusOf(body), quern_invalid_arguments);
    return quern_get_last_error_message();
  }
};

TEST_F(EltwiseExecution, ForwardAndBackwardInPlace) {
  eltwise_forward::primitive_desc desc = forward(algorithm::eltwise_relu, md, md, 0.25f);
  std::vector<float> data = values, gradient(10, 3.0f);
  memory inPlace(md, device, data.data()), diff(md, device, gradient.data());
  eltwise_forward(desc).execute(order, {{QUERN_ARG_SRC, inPlace}, {QUERN_ARG_DST, inPlace}});
  for (size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(data[i], values[i] > 0 ? values[i] : 0.25f * values[i]);
  eltwise_backward::primitive_desc back(device, algorithm::eltwise_relu_use_dst_for_bwd, md, md, md, 0.25f, desc);
  eltwise_backward(back).execute(order,
                                 {{QUERN_ARG_DST, inPlace}, {QUERN_ARG_DIFF_DST, diff}, {QUERN_ARG_DIFF_SRC, diff}});
  for (size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(gradient[i], values[i] > 0 ? 3.0f : 0.75f);
}

// f(0) of a logistic is 0.5, but the padding must stay zero.
TEST_F(EltwiseExecution, PaddingStaysZero) {
  memory::desc blocked({2, 5}, dt::f32, "aB8b");
  ASSERT_EQ(blocked.get_size(), 64u);
  for (const memory::desc &from : {md, blocked}) {
    std::vector<float> data(16, 7.0f), result(16, 7.0f);
    memory src(from, device, data.data()), dst(blocked, device, result.data());
    eltwise_forward(forward(algorithm::eltwise_logistic, from, blocked))
        .execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_NEAR(result[i], i % 8 < 5 ? 1 / (1 + std::exp(-7.0)) : 0, 1e-7) << i;
  }
}

TEST_F(EltwiseExecution, Queries) {
  eltwise_forward::primitive_desc desc =
      forward(algorithm::eltwise_clip, md, memory::desc({2, 5}, dt::bf16, "any"), -1, 2);
  EXPECT_EQ(desc.get_kind(), primitive::kind::eltwise);
  EXPECT_EQ(desc.get_algorithm(), algorithm::eltwise_clip);
  EXPECT_EQ(desc.get_prop_kind(), prop_kind::forward_training);
  EXPECT_EQ(desc.get_alpha(), -1);
  EXPECT_EQ(desc.get_beta(), 2);
  EXPECT_EQ(desc.src_desc(), md);
  EXPECT_EQ(desc.dst_desc(), memory::desc({2, 5}, dt::bf16, "ab"));
  eltwise_backward::primitive_desc back(device, algorithm::eltwise_exp_use_dst_for_bwd, md, md, md, desc);
  EXPECT_EQ(back.dst_desc(), md);
  EXPECT_EQ(back.diff_src_desc(), md);
  EXPECT_EQ(back.diff_dst_desc(), md);
  EXPECT_TRUE(
      quern_memory_desc_equal(quern_primitive_desc_query_md(back.get(), quern_query_src_md, 0), memory::desc().get()));
  EXPECT_EQ(quern_primitive_desc_query_s32(back.get(), quern_query_num_of_inputs_s32, 0), 2);
}

TEST_F(EltwiseExecution, RefusesByNumber) {
  std::vector<float> data(32);
  memory src(md, device, data.data()), dst(md, device, data.data() + 16), shifted(md, device, data.data() + 1);
  eltwise_forward kernel(forward(algorithm::eltwise_tanh, md, md));
  EXPECT_NE(refusal([&] { kernel.execute(order, {{QUERN_ARG_DST, dst}}); }).find("(eltwise C12)"), std::string::npos);
  EXPECT_NE(
      refusal([&] { kernel.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, shifted}}); }).find("(eltwise C13)"),
      std::string::npos);
  memory::desc open({QUERN_RUNTIME_DIM_VAL, 5}, dt::f32, "ab"), less({1, 5}, dt::f32, "ab");
  eltwise_forward any(forward(algorithm::eltwise_tanh, open, open));
  any.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  EXPECT_NE(refusal([&] {
              any.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, memory(less, device, data.data() + 16)}});
            }).find("(eltwise C14)"),
            std::string::npos);
}

} // namespace
} // namespace quern
