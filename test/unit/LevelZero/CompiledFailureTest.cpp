//===- CompiledFailureTest.cpp - Failing calls with compiled kernels ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Like FailureTest.cpp, but with compiled kernels: a softmax, a reorder and an LSTM, whose program is recorded. First
// the kernels stay in the memory cache, so that calls of engines, streams, memory and executions fail; then the calls
// that load kernels fail.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"
#include "ProblemData.h"
#include "support/TestDriver.h"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <cstdio>
#include <cstdlib>

using namespace quern;
using namespace quern::test;

namespace {

/// Numbers of driver calls before and after a kernel is created.
struct Loading {
  int64_t before = 0, after = 0;
};

/// Runs a line from opening the engine to judging the result.
Result<void> runLine(const std::string &line, Loading *loading = nullptr) {
  Result<Device> device = Device::open(quern_gpu);
  if (!device)
    return device.takeError();
  Result<ParsedProblem> problem = readProblem(line, device->target());
  if (!problem)
    return problem.takeError();
  const int64_t before = driverCalls();
  Result<Kernel> kernel = Kernel::create(*device, problem->text);
  if (!kernel)
    return kernel.takeError();
  if (loading)
    *loading = {before, driverCalls()};
  Result<ProblemData> data = ProblemData::create(*problem, {});
  if (!data)
    return data.takeError();
  if (Result<void> expected = data->computeExpected(); !expected)
    return expected;
  if (Result<void> bound = kernel->bind(data->buffers()); !bound)
    return bound;
  if (Result<void> executed = kernel->execute(); !executed)
    return executed;
  const Verdict verdict = data->judgeOutputs();
  return verdict.isRight ? Result<void>() : Result<void>(internalError("the result is wrong"));
}

struct Failure {
  ze_result_t result;
  const char *name;
  Status status;
};
constexpr Failure failures[] = {
    {ZE_RESULT_ERROR_DEVICE_LOST, "ZE_RESULT_ERROR_DEVICE_LOST", Status::RuntimeError},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", Status::OutOfMemory},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY", Status::OutOfMemory},
    {ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE", Status::RuntimeError},
};

void emptyMemoryCache() {
  int capacity = 0;
  ASSERT_EQ(quern_get_primitive_cache_capacity(&capacity), quern_success);
  ASSERT_EQ(quern_set_primitive_cache_capacity(0), quern_success);
  ASSERT_EQ(quern_set_primitive_cache_capacity(capacity), quern_success);
}

void failCall(const std::string &line, int64_t n, const Failure &failure, int64_t objects) {
  SCOPED_TRACE(concat("call ", n, ", ", failure.name));
  failDriverCall(n, failure.result);
  const Result<void> failed = runLine(line);
  failDriverCall(0, 0);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(failure.name), std::string::npos) << failed.error().message;
  EXPECT_EQ(failed.error().status, failure.status);
  EXPECT_EQ(driverObjects(), objects);
  const Result<void> again = runLine(line);
  EXPECT_TRUE(again) << again.error().message;
}

void failEachCall(const std::string &line) {
  ASSERT_TRUE(runLine(line)) << runLine(line).error().message;
  const int64_t callsBefore = driverCalls(), objects = driverObjects();
  ASSERT_TRUE(runLine(line));
  const int64_t calls = driverCalls() - callsBefore;
  ASSERT_EQ(driverObjects(), objects);
  ASSERT_GT(calls, 10);
  for (const Failure &failure : failures)
    for (int64_t n = 1; n <= calls; ++n)
      failCall(line, n, failure, objects);
}

/// Fails each call that builds a module or creates its kernels; the kernel is loaded again for each.
void failLoading(const std::string &line) {
  ASSERT_TRUE(runLine(line));
  emptyMemoryCache();
  const int64_t objects = driverObjects(), start = driverCalls();
  Loading loading;
  ASSERT_TRUE(runLine(line, &loading));
  ASSERT_GT(loading.after, loading.before + 1);
  for (int64_t call = loading.before; call < loading.after; ++call) {
    emptyMemoryCache();
    failCall(line, call - start + 1, failures[call % std::size(failures)], objects);
  }
  emptyMemoryCache();
  failCall(line, loading.before - start + 1, failures[std::size(failures) - 1], objects);
}

constexpr const char *softmax = "softmax fwd_i src=f32:5x33:ab dst=f32:5x33:ab axis=1";
constexpr const char *reorder = "reorder src=f32:7x33:ab dst=f16:7x33:ba";
constexpr const char *lstm =
    "rnn fwd_i cell=lstm direction=left2right src_layer=f32:4x1x16:abc weights_layer=f32:1x1x16x4x16:any "
    "weights_iter=f32:1x1x16x4x16:any bias=f32:1x1x4x16:abcd dst_layer=f32:4x1x16:abc";

TEST(EachCall, MayFailInASoftmax) { failEachCall(softmax); }
TEST(EachCall, MayFailInAReorder) { failEachCall(reorder); }
TEST(EachCall, MayFailInAReorderFromTheHost) { failEachCall("reorder src=f32:7x33:ab dst=f16:7x33:ba dst_engine=gpu"); }
TEST(EachCall, MayFailInAReorderToTheHost) {
  failEachCall("reorder src=f32:7x33:ab dst=f16:7x33:s70x1 src_engine=gpu");
}
TEST(EachCall, MayFailInACopyToTheHost) { failEachCall("reorder src=f32:7x33:ab dst=f32:7x33:ab src_engine=gpu"); }
TEST(EachCall, MayFailInAnLstm) { failEachCall(lstm); }

TEST(EachLoadingCall, MayFailInASoftmax) { failLoading(softmax); }
TEST(EachLoadingCall, MayFailInAReorder) { failLoading(reorder); }
TEST(EachLoadingCall, MayFailInAnLstm) { failLoading(lstm); }

/// Returns 0 if pow, gelu and a reorder compute right results without f64, and f64 tensors are refused by name.
int runWithoutF64() {
  for (const char *line : {"eltwise fwd_i alg=pow alpha=2 beta=0.3 src=f32:9x33:ab dst=f32:9x33:ab",
                           "eltwise fwd_i alg=gelu_erf src=f16:9x33:ab dst=f16:9x33:ab",
                           "reorder src=f32:9x33:ab dst=f32:9x33:ba attr.post_ops=eltwise(alg=pow,alpha=1,beta=1.7)"})
    if (Result<void> done = runLine(line); !done) {
      std::fprintf(stderr, "%s: %s\n", line, done.error().message.c_str());
      return 1;
    }
  const Result<void> refused = runLine("reorder src=f64:9x33:ab dst=f32:9x33:ab");
  return !refused && refused.error().message.find("f64") != std::string::npos ? 0 : 2;
}

TEST(ADeviceWithoutF64, ComputesProblemsWithoutF64) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a separate process, whose driver reads the variable
  setenv("ZE_OPENCL_F64", "0", 1);
  EXPECT_EXIT(std::_Exit(runWithoutF64()), testing::ExitedWithCode(0), "");
  unsetenv("ZE_OPENCL_F64");
}

} // namespace
