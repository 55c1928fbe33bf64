//===- ReorderTest.cpp - Reorders through the API --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests reorders with the real compiler: arguments, queries, refusals, and arguments that attributes add.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

using dt = memory::data_type;

class ReorderTest : public testing::Test {
protected:
  static int count(const primitive_desc &desc, quern_query_t what) {
    return quern_primitive_desc_query_s32(desc.get(), what, 0);
  }
  template <typename Body> static quern_status_t refused(Body &&body, const std::string &constraint) {
    const quern_status_t status = test::statusOf(body);
    EXPECT_NE(std::string(quern_get_last_error_message()).find("(reorder " + constraint + ")"), std::string::npos)
        << quern_get_last_error_message();
    return status;
  }
  template <typename T> memory over(const memory::desc &md, std::vector<T> &values) {
    return memory(md, device, values.data());
  }

  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
  engine device{engine::kind::cpu, 0};
  stream order{device};
  memory::desc rows{{2, 3}, dt::f32, "ab"}, columns{{2, 3}, dt::f32, "ba"}, bytes{{2, 3}, dt::s8, "ab"};
};

TEST_F(ReorderTest, AnswersQueries) {
  engine other(engine::kind::cpu, 0);
  primitive_attr attr;
  attr.set_scales(QUERN_ARG_SRC, 3, {1, 3}, dt::bf16);
  attr.set_zero_points_mask(QUERN_ARG_DST, 2);
  post_ops ops;
  ops.append_sum(0.5f);
  attr.set_post_ops(ops);
  reorder::primitive_desc desc(device, rows, other, bytes, attr);
  EXPECT_EQ(desc.get_kind(), primitive::kind::reorder);
  EXPECT_EQ(desc.get_src_engine().get(), device.get());
  EXPECT_EQ(desc.get_dst_engine().get(), other.get());
  EXPECT_EQ(desc.src_desc(), rows);
  EXPECT_EQ(desc.dst_desc(), bytes);
  EXPECT_EQ(count(desc, quern_query_num_of_inputs_s32), 1);
  EXPECT_EQ(count(desc, quern_query_num_of_outputs_s32), 1);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_FROM), rows);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_TO), bytes);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC),
            memory::desc({2}, dt::bf16, "a"));
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_DST),
            memory::desc({3}, dt::s32, "a"));
  EXPECT_TRUE(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST).is_zero());
  EXPECT_EQ(std::string(desc.impl_info_str()).substr(0, 4), "jit:");
  EXPECT_FALSE(desc.next_impl());
  EXPECT_EQ(primitive_desc(device, desc.text()).text(), desc.text());
}

TEST_F(ReorderTest, RefusesByNumber) {
  memory::desc other({2, 4}, dt::f32, "ab"), any({2, 3}, dt::f32, "any");
  primitive_attr zeroPoints, scales;
  zeroPoints.set_zero_points_mask(QUERN_ARG_SRC, 0);
  scales.set_scales(QUERN_ARG_DST, 3, {1, 2});
  EXPECT_EQ(refused([&] { reorder::primitive_desc(device, rows, device, other); }, "C4"), quern_invalid_arguments);
  EXPECT_EQ(refused([&] { reorder::primitive_desc(device, rows, device, any); }, "C3"), quern_invalid_arguments);
  EXPECT_EQ(refused([&] { reorder::primitive_desc(device, rows, device, bytes, zeroPoints); }, "C9"),
            quern_invalid_arguments);
  EXPECT_EQ(refused([&] { reorder::primitive_desc(device, rows, device, bytes, scales); }, "C8"),
            quern_invalid_arguments);
  EXPECT_FALSE(reorder::primitive_desc(device, rows, device, other, {}, /*allow_empty=*/true));
}

TEST_F(ReorderTest, QuantizesAndAccumulates) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_DST, 2);
  attr.set_zero_points(QUERN_ARG_DST, 0, {}, dt::s8);
  post_ops ops;
  ops.append_sum(2);
  attr.set_post_ops(ops);
  std::vector<float> from = {1, 2, 3, 4, 5, 600}, scales = {0.5f, 1, 2};
  std::vector<int8_t> to = {1, 1, 1, 1, 1, 1}, zeroPoint = {-3};
  memory src = over(rows, from), dst = over(bytes, to);
  reorder kernel(reorder::primitive_desc(src, dst, attr));
  std::unordered_map<int, memory> arguments = {{QUERN_ARG_FROM, src}, {QUERN_ARG_TO, dst}};
  EXPECT_EQ(refused([&] { kernel.execute(order, arguments); }, "C13"), quern_invalid_arguments);
  arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST] = over(memory::desc({3}, dt::f32, "a"), scales);
  arguments[QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_DST] = over(memory::desc({1}, dt::s8, "a"), zeroPoint);
  kernel.execute(order, arguments);
  EXPECT_EQ(to, (std::vector<int8_t>{3, 1, 0, 9, 4, 127})); // (x + 2) / scale - 3; -0.5 becomes 0
}

TEST_F(ReorderTest, ACacheBlobRestoresTheKernel) {
  std::vector<float> from = {1, 2, 3, 4, 5, 6}, to(6, -7);
  memory src = over(rows, from), dst = over(columns, to);
  reorder::primitive_desc desc(src, dst);
  reorder(desc, reorder(desc).get_cache_blob()).execute(order, src, dst);
  EXPECT_EQ(to, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

} // namespace
} // namespace quern
