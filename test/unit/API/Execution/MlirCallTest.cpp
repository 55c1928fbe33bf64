//===- MlirCallTest.cpp - Functions in MLIR, called by generated code -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests quern_mlir_call() with the memref descriptors that MLIR's lowering creates: the state that a call site keeps,
// refusals, and concurrent calls.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include "Support/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace quern {
namespace {

/// The descriptor of a memref.
template <int Rank> struct Memref {
  void *allocated, *aligned;
  int64_t offset, sizes[Rank], strides[Rank];
  quern_mlir_memref_t unranked() const { return {Rank, this}; }
};

Memref<2> matrix(float *data, int64_t rows, int64_t columns, int64_t stride = 0, int64_t offset = 0) {
  return {nullptr, data, offset, {rows, columns}, {stride ? stride : columns, 1}};
}

/// y = 2 x for 4 x 8 elements; the row stride of x is 10.
const char twice[] = R"(
func.func @twice(%x: memref<4x8xf32, strided<[10, 1], offset: 3>>, %y: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x8xf32, strided<[10, 1], offset: 3>>) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %m = arith.addf %a, %a : f32
    linalg.yield %m : f32
  }
  return
})";

quern_mlir_function_t given(const char *text) {
  return {text, std::strlen(text), nullptr, nullptr, nullptr, 0, 0, nullptr};
}

class MlirCallTest : public testing::Test {
protected:
  MlirCallTest() : x(46), y(32) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
  }
  ~MlirCallTest() override { EXPECT_EQ(quern_mlir_release(&site), quern_success); }
  quern_status_t call(const quern_mlir_function_t &function, const Memref<2> &from, const Memref<2> &to) {
    const quern_mlir_memref_t memrefs[] = {from.unranked(), to.unranked()};
    return quern_mlir_call(&site, &function, memrefs, 2);
  }
  Memref<2> source() { return matrix(x.data(), 4, 8, 10, 3); }

  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
  std::vector<float> x, y;
  void *site = nullptr;
};

TEST_F(MlirCallTest, ComputesWhatDescriptorsSay) {
  const quern_mlir_function_t function = given(twice);
  for (int round = 0; round < 3; ++round) {
    std::vector<float> result(32, -1.0f); // another buffer for each call
    ASSERT_EQ(call(function, source(), matrix(result.data(), 4, 8)), quern_success) << quern_get_last_error_message();
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_EQ(result[i], 2 * x[3 + i / 8 * 10 + i % 8]);
  }
}

TEST_F(MlirCallTest, RefusesOtherMemrefs) {
  const quern_mlir_function_t function = given(twice);
  const Memref<2> to = matrix(y.data(), 4, 8);
  EXPECT_EQ(call(function, matrix(x.data(), 4, 8, 10, 2), to), quern_invalid_arguments); // another offset
  EXPECT_EQ(call(function, matrix(x.data(), 4, 8, 9, 3), to), quern_invalid_arguments);  // other strides
  EXPECT_EQ(call(function, matrix(x.data(), 4, 7, 10, 3), to), quern_invalid_arguments); // another size
  EXPECT_NE(std::strstr(quern_get_last_error_message(), "arg0"), nullptr) << quern_get_last_error_message();
  EXPECT_EQ(call(function, source(), matrix(x.data(), 4, 8)), quern_invalid_arguments); // overlapping buffers
  EXPECT_EQ(call(function, matrix(nullptr, 4, 8, 10, 3), to), quern_invalid_arguments);
  const quern_mlir_memref_t rank3[] = {{3, x.data()}, to.unranked()};
  EXPECT_EQ(quern_mlir_call(&site, &function, rank3, 2), quern_invalid_arguments);
  const quern_mlir_memref_t null[] = {{2, nullptr}, to.unranked()};
  EXPECT_EQ(quern_mlir_call(&site, &function, null, 2), quern_invalid_arguments);
  EXPECT_EQ(quern_mlir_call(&site, &function, null, 1), quern_invalid_arguments);
  EXPECT_EQ(call(function, source(), to), quern_success); // the call site still works
}

TEST_F(MlirCallTest, RemembersRefusals) {
  const quern_mlir_function_t function = given("func.func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) { return }");
  const Memref<2> to = matrix(y.data(), 4, 8);
  ASSERT_EQ(call(function, to, to), quern_unimplemented);
  const std::string first = quern_get_last_error_message();
  quern_cache_statistics_t before, after;
  quern_get_cache_statistics(&before);
  EXPECT_EQ(call(function, to, to), quern_unimplemented);
  quern_get_cache_statistics(&after);
  EXPECT_EQ(first, quern_get_last_error_message());
  EXPECT_EQ(before.disk_misses, after.disk_misses); // no cache was queried again
}

TEST_F(MlirCallTest, ReportsFailures) {
  quern_mlir_function_t function = given(twice);
  static std::string reported;
  function.on_failure = [](quern_status_t status, const char *message) {
    reported = concat(static_cast<int>(status), " ", message);
  };
  ASSERT_EQ(call(function, source(), matrix(y.data(), 4, 8)), quern_success);
  EXPECT_EQ(reported, "");
  ASSERT_EQ(call(function, source(), matrix(y.data(), 4, 7)), quern_invalid_arguments);
  EXPECT_EQ(reported, concat("2 ", quern_get_last_error_message()));
}

TEST_F(MlirCallTest, AcceptsOneElementOfRank0) {
  const quern_mlir_function_t function = given(R"(
func.func @f(%x: memref<f32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %old: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  }
  return
})");
  struct {
    void *allocated, *aligned;
    int64_t offset;
  } from{nullptr, &x[5], 0}, to{nullptr, y.data(), 0};
  const quern_mlir_memref_t memrefs[] = {{0, &from}, {0, &to}};
  ASSERT_EQ(quern_mlir_call(&site, &function, memrefs, 2), quern_success) << quern_get_last_error_message();
  EXPECT_EQ(y[0], 25);
}

TEST_F(MlirCallTest, ServesConcurrentThreads) {
  const quern_mlir_function_t function = given(twice);
  quern_cache_statistics_t before, after;
  quern_get_cache_statistics(&before);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<float> result(32);
      for (int round = 0; round < 50; ++round) {
        std::fill(result.begin(), result.end(), -1.0f);
        wrong += call(function, source(), matrix(result.data(), 4, 8)) != quern_success;
        for (size_t i = 0; i < result.size(); ++i)
          wrong += result[i] != 2 * x[3 + i / 8 * 10 + i % 8];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  quern_get_cache_statistics(&after);
  EXPECT_EQ(after.compilations, before.compilations + 1);
}

TEST_F(MlirCallTest, RunsKernelsCompiledAhead) {
  engine device(engine::kind::cpu, 0);
  const primitive_desc problem = primitive_desc::from_mlir(device, twice);
  const std::vector<uint8_t> artifact = primitive(problem).get_cache_blob();
  const std::string line = problem.text();
  quern_mlir_function_t function = given("not read");
  function.line = line.c_str();
  function.kernel = artifact.data();
  function.kernel_bytes = artifact.size();
  quern_cache_statistics_t before, after;
  quern_get_cache_statistics(&before);
  ASSERT_EQ(call(function, source(), matrix(y.data(), 4, 8)), quern_success) << quern_get_last_error_message();
  EXPECT_EQ(y[9], 2 * x[14]);
  quern_get_cache_statistics(&after);
  EXPECT_EQ(after.compilations, before.compilations);
  EXPECT_EQ(after.memory_hits, before.memory_hits);
}

} // namespace
} // namespace quern
