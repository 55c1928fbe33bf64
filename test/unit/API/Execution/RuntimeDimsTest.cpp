//===- RuntimeDimsTest.cpp - One kernel for every size --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests problems with open dims, strides and offset, with the real compiler: one compilation serves all sizes, layouts
// and numbers of threads, and sizes that do not match are refused before anything runs.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include "quern/quern_threadpool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

namespace quern {
namespace {

constexpr int64_t open = QUERN_RUNTIME_DIM_VAL;
constexpr float untouched = -7;
using dt = memory::data_type;

/// Rows of `columns` elements with row stride `stride`, starting at `offset`.
struct Matrix {
  int64_t rows, columns, stride, offset = 0;
  size_t size() const { return static_cast<size_t>(offset + rows * stride); }
  size_t at(int64_t row, int64_t column) const { return static_cast<size_t>(offset + row * stride + column); }
  memory::desc desc() const {
    if (offset == 0)
      return memory::desc({rows, columns}, dt::f32, memory::dims{stride, 1});
    // The offset is that of a sub-memory that leaves out the first `offset` columns of a matrix.
    return memory::desc({rows, stride}, dt::f32, memory::dims{stride, 1}).submemory_desc({rows, columns}, {0, offset});
  }
};

std::vector<float> pattern(const Matrix &matrix) {
  std::vector<float> values(matrix.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 7919 % 1000) - 500) * 0.01f;
  return values;
}

/// Returns the number of elements of `y` that are not the softmax of `x` along the columns, or changed in a gap.
size_t wrong(const Matrix &in, const std::vector<float> &x, const Matrix &out, const std::vector<float> &y) {
  std::vector<double> expected(y.size(), untouched);
  for (int64_t row = 0; row < in.rows; ++row) {
    double sum = 0;
    for (int64_t column = 0; column < in.columns; ++column)
      sum += std::exp(static_cast<double>(x[in.at(row, column)]));
    for (int64_t column = 0; column < in.columns; ++column)
      expected[out.at(row, column)] = std::exp(static_cast<double>(x[in.at(row, column)])) / sum;
  }
  size_t count = 0;
  for (size_t i = 0; i < y.size(); ++i)
    count += !(std::fabs(y[i] - expected[i]) <= 1e-6 * std::fabs(expected[i]));
  return count;
}

class RuntimeDimsTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
  memory::desc md{{open, open}, dt::f32, memory::dims{open, 1}};
  softmax_forward::primitive_desc desc{device, prop_kind::forward_inference, algorithm::softmax_accurate, md, md, 1};

  std::unordered_map<int, memory> arguments(const Matrix &in, std::vector<float> &x, const Matrix &out,
                                            std::vector<float> &y) const {
    return {{QUERN_ARG_SRC, memory(in.desc(), device, x.data())},
            {QUERN_ARG_DST, memory(out.desc(), device, y.data())}};
  }
  size_t run(const primitive &kernel, const stream &order, const Matrix &in, const Matrix &out) const {
    std::vector<float> x = pattern(in), y(out.size(), untouched);
    kernel.execute(order, arguments(in, x, out, y));
    return wrong(in, x, out, y);
  }
  /// Returns the reason of a refused execution.
  std::string refusal(const primitive &kernel, const Matrix &in, const Matrix &out) const {
    std::vector<float> x = pattern(in), y(out.size(), untouched);
    EXPECT_EQ(test::statusOf([&] { kernel.execute(stream(device), arguments(in, x, out, y)); }),
              quern_invalid_arguments);
    EXPECT_EQ(y, std::vector<float>(out.size(), untouched));
    return quern_get_last_error_message();
  }
};

TEST_F(RuntimeDimsTest, OneCompilationServesEverySize) {
  const uint64_t before = test::statistics().compilations;
  primitive kernel(desc);
  const stream order(device);
  for (int64_t rows : {1, 2, 7, 64})
    for (int64_t columns : {1, 3, 15, 16, 17, 64, 100, 1000, 4099})
      EXPECT_EQ(run(kernel, order, {rows, columns, columns}, {rows, columns, columns}), 0u) << rows << "x" << columns;
  EXPECT_EQ(primitive(desc).info().origin, quern_origin_memory);
  EXPECT_EQ(test::statistics().compilations, before + 1);
}

TEST_F(RuntimeDimsTest, StridesMayLeaveGaps) {
  primitive kernel(desc);
  EXPECT_EQ(run(kernel, stream(device), {9, 50, 64}, {9, 50, 53}), 0u);
  primitive_desc moved(device, "softmax fwd_i src=f32:?x?:s?x1:off? dst=f32:?x?:s?x1 axis=1");
  EXPECT_EQ(run(primitive(moved), stream(device), {9, 50, 64, 5}, {9, 50, 53}), 0u);
}

TEST_F(RuntimeDimsTest, InPlace) {
  const Matrix matrix{5, 1000, 1003};
  std::vector<float> x = pattern(matrix), y = x;
  primitive(desc).execute(stream(device), {{QUERN_ARG_SRC, memory(matrix.desc(), device, y.data())},
                                           {QUERN_ARG_DST, memory(matrix.desc(), device, y.data())}});
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t gap = matrix.columns; gap < matrix.stride; ++gap) {
      EXPECT_EQ(y[matrix.at(row, gap)], x[matrix.at(row, gap)]);
      y[matrix.at(row, gap)] = untouched;
    }
  EXPECT_EQ(wrong(matrix, x, matrix, y), 0u);
}

TEST_F(RuntimeDimsTest, SizesThatDoNotFitAreRefused) {
  primitive kernel(desc);
  EXPECT_NE(refusal(kernel, {4, 9, 9}, {4, 8, 8}).find("dim 1 of dst is 8, of src 9"), std::string::npos);
  EXPECT_NE(refusal(kernel, {4, 9, 9}, {3, 9, 9}).find("dim 0 of dst is 3, of src 4"), std::string::npos);
  memory::desc rows({open, 9}, dt::f32, "ab");
  primitive fixed(softmax_forward::primitive_desc(device, prop_kind::forward_inference, algorithm::softmax_accurate,
                                                  rows, rows, 1));
  EXPECT_NE(refusal(fixed, {4, 8, 8}, {4, 8, 8}).find("dim 1 of src is 8; the primitive takes 9"), std::string::npos);
  EXPECT_NE(refusal(fixed, {4, 9, 10}, {4, 9, 9}).find("stride 0 of src is 10; the primitive takes 9"),
            std::string::npos);
  EXPECT_EQ(run(fixed, stream(device), {4, 9, 9}, {4, 9, 9}), 0u);
}

TEST_F(RuntimeDimsTest, EmptyTensorsRunNothing) {
  primitive kernel(desc);
  for (const Matrix &empty : {Matrix{0, 8, 8}, Matrix{3, 0, 8}})
    EXPECT_EQ(run(kernel, stream(device), empty, empty), 0u);
}

TEST_F(RuntimeDimsTest, Queries) {
  EXPECT_EQ(desc.src_desc(), md);
  EXPECT_EQ(desc.src_desc().get_dims(), (memory::dims{open, open}));
  EXPECT_EQ(desc.dst_desc().get_size(), QUERN_RUNTIME_SIZE_VAL);
  EXPECT_EQ(test::statusOf([&] { memory(desc.src_desc(), device, nullptr); }), quern_invalid_arguments);
  EXPECT_EQ(test::statusOf([&] { memory::desc({open, 4}, dt::f32, "any"); }), quern_invalid_arguments);
}

TEST_F(RuntimeDimsTest, DiskCacheRoundTrip) {
  EXPECT_EQ(primitive(desc).info().origin, quern_origin_compiled);
  test::ScopedCaches::emptyMemory();
  primitive kernel(desc);
  EXPECT_EQ(kernel.info().origin, quern_origin_disk);
  EXPECT_EQ(run(kernel, stream(device), {3, 100, 100}, {3, 100, 100}), 0u);
}

/// A pool of two threads, which are started for each call.
class Pool : public threadpool_interop::threadpool_iface {
public:
  int get_num_threads() const override { return 2; }
  bool get_in_parallel() const override { return false; }
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    ++calls;
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i)
      threads.emplace_back([&fn, i, n] { fn(i, n); });
    for (std::thread &thread : threads)
      thread.join();
  }
  uint64_t get_flags() const override { return 0; }
  void wait() override {}
  int calls = 0;
};

TEST_F(RuntimeDimsTest, ThreadsFollowTheSizes) {
  Pool pool;
  const stream order = threadpool_interop::make_stream(device, &pool);
  primitive kernel(desc);
  EXPECT_EQ(run(kernel, order, {2, 16, 16}, {2, 16, 16}), 0u);
  EXPECT_EQ(pool.calls, 0) << "too little work for a second thread";
  EXPECT_EQ(run(kernel, order, {500, 1000, 1000}, {500, 1000, 1000}), 0u);
  EXPECT_EQ(pool.calls, 1);
}

TEST_F(RuntimeDimsTest, EverySizeOfEveryOperandMayBeOpen) {
  const std::string tensor = ":?x?x?x?x?x?x?x?x?x?x?x?:s?x?x?x?x?x?x?x?x?x?x?x?:off?";
  std::string operations;
  for (int i = 0; i < 32; ++i)
    operations +=
        (i ? ",binary(alg=select,src1=f32" : "binary(alg=select,src1=f32") + tensor + ",src2=u8" + tensor + ")";
  primitive_desc desc(device,
                      "softmax fwd_i src=f32" + tensor + " dst=f32" + tensor + " axis=11 attr.post_ops=" + operations);
  int sizes = 0;
  ASSERT_EQ(quern_primitive_get_launch_counts(primitive(desc).get(), nullptr, &sizes, nullptr), quern_success);
  EXPECT_EQ(sizes, 66 * 25);
}

TEST_F(RuntimeDimsTest, EntriesTakeTheList) {
  primitive kernel(desc);
  const Matrix in{5, 40, 41}, out{5, 40, 43};
  std::vector<float> x = pattern(in), y(out.size(), untouched);
  void *buffers[] = {x.data(), y.data()};
  const int64_t sizes[] = {in.rows, in.columns, in.stride, out.rows, out.columns, out.stride};
  const quern_launch_data_t data = {buffers, sizes, nullptr};
  std::vector<float> scratch(kernel.get_launch_memory(&data).scratch_bytes / sizeof(float) + 16);
  const auto start = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
  kernel.visit_launch(data, [&](const quern_launch_call_t &call) {
    const quern_kernel_args_t args{call.args.buffers, reinterpret_cast<void *>(start), nullptr, call.args.sizes};
    call.function(&args, 0, call.iterations / 2);
    call.function(&args, call.iterations / 2, call.iterations);
  });
  EXPECT_EQ(wrong(in, x, out, y), 0u);
}

} // namespace
} // namespace quern
