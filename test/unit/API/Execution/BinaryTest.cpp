//===- BinaryTest.cpp - Binaries through the API --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests binaries with the real compiler: arguments, queries, refusals, broadcasts, select, and execution in place.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

using dt = memory::data_type;

class BinaryTest : public testing::Test {
protected:
  static int count(const primitive_desc &desc, quern_query_t what) {
    return quern_primitive_desc_query_s32(desc.get(), what, 0);
  }
  template <typename Body> static quern_status_t refused(Body &&body, const std::string &constraint) {
    const quern_status_t status = test::statusOf(body);
    EXPECT_NE(std::string(quern_get_last_error_message()).find(constraint), std::string::npos)
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
  memory::desc matrix{{2, 3}, dt::f32, "ab"}, row{{1, 3}, dt::f32, "ab"}, bytes{{2, 3}, dt::u8, "ab"},
      any{{2, 3}, dt::f32, "any"};
};

TEST_F(BinaryTest, AnswersQueries) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC_1, 2);
  post_ops ops;
  ops.append_binary(algorithm::binary_mul, row);
  attr.set_post_ops(ops);
  binary::primitive_desc desc(device, algorithm::binary_select, matrix, row, bytes, any, attr);
  EXPECT_EQ(desc.get_kind(), primitive::kind::binary);
  EXPECT_EQ(desc.get_algorithm(), algorithm::binary_select);
  EXPECT_EQ(desc.src0_desc(), matrix);
  EXPECT_EQ(desc.src1_desc(), row);
  EXPECT_EQ(desc.src2_desc(), bytes);
  EXPECT_EQ(desc.dst_desc(), matrix);
  EXPECT_EQ(count(desc, quern_query_num_of_inputs_s32), 4);
  EXPECT_EQ(count(desc, quern_query_num_of_outputs_s32), 1);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_SRC_2), bytes);
  EXPECT_EQ(desc.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC_1),
            memory::desc({3}, dt::f32, "a"));
  EXPECT_TRUE(binary::primitive_desc(device, algorithm::binary_add, matrix, row, matrix).src2_desc().is_zero());
  EXPECT_EQ(primitive_desc(device, desc.text()).text(), desc.text());
}

TEST_F(BinaryTest, RefusesByNumber) {
  memory::desc other({2, 4}, dt::f32, "ab");
  EXPECT_EQ(
      refused([&] { binary::primitive_desc(device, algorithm::eltwise_relu, matrix, matrix, matrix); }, "(binary C2)"),
      quern_invalid_arguments);
  EXPECT_EQ(
      refused([&] { binary::primitive_desc(device, algorithm::binary_select, matrix, matrix, matrix); }, "(binary C3)"),
      quern_invalid_arguments);
  EXPECT_EQ(refused([&] { binary::primitive_desc(device, algorithm::binary_add, any, matrix, matrix); }, "(binary C4)"),
            quern_invalid_arguments);
  EXPECT_EQ(
      refused([&] { binary::primitive_desc(device, algorithm::binary_add, matrix, other, matrix); }, "(binary C5)"),
      quern_invalid_arguments);
  EXPECT_FALSE(binary::primitive_desc(device, algorithm::binary_add, matrix, other, matrix, {}, /*allow_empty=*/true));
  quern_primitive_desc_t desc = nullptr;
  EXPECT_EQ(quern_binary_primitive_desc_create(&desc, device.get(), quern_binary_add, nullptr, row.get(), matrix.get(),
                                               nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_binary_primitive_desc_create(nullptr, device.get(), quern_binary_add, matrix.get(), row.get(),
                                               matrix.get(), nullptr),
            quern_invalid_arguments);
}

TEST_F(BinaryTest, BroadcastsScalesAndAccumulates) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC_1, 2);
  post_ops ops;
  ops.append_sum(2);
  attr.set_post_ops(ops);
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {10, 20, 30}, scales = {0.5f, 1, 2}, z = {1, 1, 1, 1, 1, 2};
  binary kernel(binary::primitive_desc(device, algorithm::binary_add, matrix, row, matrix, attr));
  kernel.execute(order, {{QUERN_ARG_SRC_0, over(matrix, x)},
                         {QUERN_ARG_SRC_1, over(row, y)},
                         {QUERN_ARG_DST, over(matrix, z)},
                         {QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC_1, over(memory::desc({3}, dt::f32, "a"), scales)}});
  EXPECT_EQ(z, (std::vector<float>{8, 24, 65, 11, 27, 70}));
}

TEST_F(BinaryTest, SelectsByACondition) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {10, 20, 30}, z(6);
  std::vector<uint8_t> condition = {0, 1, 0, 2, 255, 0};
  binary kernel(binary::primitive_desc(device, algorithm::binary_select, matrix, row, bytes, matrix));
  kernel.execute(order, {{QUERN_ARG_SRC_0, over(matrix, x)},
                         {QUERN_ARG_SRC_1, over(row, y)},
                         {QUERN_ARG_SRC_2, over(bytes, condition)},
                         {QUERN_ARG_DST, over(matrix, z)}});
  EXPECT_EQ(z, (std::vector<float>{10, 2, 30, 4, 5, 30}));
}

// Constraints C12, C13 and C14.
TEST_F(BinaryTest, RefusesExecutionsByNumber) {
  std::vector<float> x(64), y(64), z(64);
  binary kernel(binary::primitive_desc(device, algorithm::binary_sub, matrix, row, matrix));
  std::unordered_map<int, memory> arguments = {{QUERN_ARG_SRC_0, over(matrix, x)}, {QUERN_ARG_DST, over(matrix, z)}};
  EXPECT_EQ(refused([&] { kernel.execute(order, arguments); }, "(binary C12)"), quern_invalid_arguments);
  arguments[QUERN_ARG_SRC_1] = over(row, z);
  EXPECT_EQ(refused([&] { kernel.execute(order, arguments); }, "(binary C13)"), quern_invalid_arguments);
  arguments[QUERN_ARG_SRC_1] = over(row, y);
  arguments[QUERN_ARG_SRC_0] = memory(matrix, device, z.data() + 1);
  EXPECT_EQ(refused([&] { kernel.execute(order, arguments); }, "(binary C13)"), quern_invalid_arguments);

  const memory::dim open = QUERN_RUNTIME_DIM_VAL;
  memory::desc rows({open, 3}, dt::f32, "ab");
  binary any(binary::primitive_desc(device, algorithm::binary_sub, rows, row, rows));
  std::unordered_map<int, memory> unequal = {{QUERN_ARG_SRC_0, over(matrix, x)},
                                             {QUERN_ARG_SRC_1, over(row, y)},
                                             {QUERN_ARG_DST, over(memory::desc({3, 3}, dt::f32, "ab"), z)}};
  EXPECT_EQ(refused([&] { any.execute(order, unequal); }, "(binary C14)"), quern_invalid_arguments);
}

TEST_F(BinaryTest, ComputesInPlaceOfEitherSource) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, y = {6, 5, 4, 3, 2, 1}, twice = {1, -2, 3, -4, 5, -6};
  binary kernel(binary::primitive_desc(device, algorithm::binary_sub, matrix, matrix, matrix));
  kernel.execute(
      order,
      {{QUERN_ARG_SRC_0, over(matrix, x)}, {QUERN_ARG_SRC_1, over(matrix, y)}, {QUERN_ARG_DST, over(matrix, x)}});
  EXPECT_EQ(x, (std::vector<float>{-5, -3, -1, 1, 3, 5}));
  kernel.execute(
      order,
      {{QUERN_ARG_SRC_0, over(matrix, x)}, {QUERN_ARG_SRC_1, over(matrix, y)}, {QUERN_ARG_DST, over(matrix, y)}});
  EXPECT_EQ(y, (std::vector<float>{-11, -8, -5, -2, 1, 4}));
  memory all = over(matrix, twice);
  kernel.execute(order, {{QUERN_ARG_SRC_0, all}, {QUERN_ARG_SRC_1, all}, {QUERN_ARG_DST, all}});
  EXPECT_EQ(twice, std::vector<float>(6, 0));
}

TEST_F(BinaryTest, OneKernelServesAllSizes) {
  const memory::dim open = QUERN_RUNTIME_DIM_VAL;
  memory::desc rows({open, 3}, dt::f32, "ab");
  binary kernel(binary::primitive_desc(device, algorithm::binary_max, rows, row, rows));
  for (memory::dim n : {1, 7, 100}) {
    std::vector<float> x(static_cast<size_t>(n) * 3), y = {1, 20, 300}, z(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
    memory::desc sized({n, 3}, dt::f32, "ab");
    kernel.execute(
        order, {{QUERN_ARG_SRC_0, over(sized, x)}, {QUERN_ARG_SRC_1, over(row, y)}, {QUERN_ARG_DST, over(sized, z)}});
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(z[i], std::max(x[i], y[i % 3])) << n << ", " << i;
  }
}

} // namespace
} // namespace quern
