//===- CompiledFailureTest.cpp - Failing calls under compiled kernels -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// As FailureTest.cpp, with what the compiler makes of a softmax, a reorder and an LSTM, whose program is recorded. Kernels stay in the
// memory cache, so that the calls are those of engines, streams, memory and executions.
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

/// Everything from the engine to the judgement.
Result<void> runLine(const std::string &line) {
  Result<Device> device = Device::open(quern_gpu);
  if (!device)
    return device.takeError();
  Result<Problem> problem = readProblem(line, device->target());
  if (!problem)
    return problem.takeError();
  Result<Kernel> kernel = Kernel::create(*device, problem->text);
  if (!kernel)
    return kernel.takeError();
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

void failEachCall(const std::string &line) {
  ASSERT_TRUE(runLine(line)) << runLine(line).error().message;
  const int64_t callsBefore = driverCalls(), objects = driverObjects();
  ASSERT_TRUE(runLine(line));
  const int64_t calls = driverCalls() - callsBefore;
  ASSERT_EQ(driverObjects(), objects);
  ASSERT_GT(calls, 10);
  for (int64_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(concat("call ", n, " of ", calls));
    failDriverCall(n, ZE_RESULT_ERROR_DEVICE_LOST);
    const Result<void> failed = runLine(line);
    failDriverCall(0, 0);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("ZE_RESULT_ERROR_DEVICE_LOST"), std::string::npos) << failed.error().message;
    EXPECT_EQ(failed.error().status, Status::RuntimeError);
    EXPECT_EQ(driverObjects(), objects);
    const Result<void> again = runLine(line);
    EXPECT_TRUE(again) << again.error().message;
  }
}

TEST(EachCall, OfASoftmax) { failEachCall("softmax fwd_i src=f32:5x33:ab dst=f32:5x33:ab axis=1"); }
TEST(EachCall, OfAReorder) { failEachCall("reorder src=f32:7x33:ab dst=f16:7x33:ba"); }
TEST(EachCall, OfAReorderFromTheHost) { failEachCall("reorder src=f32:7x33:ab dst=f16:7x33:ba dst_engine=gpu"); }
TEST(EachCall, OfAReorderToTheHost) { failEachCall("reorder src=f32:7x33:ab dst=f16:7x33:s70x1 src_engine=gpu"); }
TEST(EachCall, OfACopyToTheHost) { failEachCall("reorder src=f32:7x33:ab dst=f32:7x33:ab src_engine=gpu"); }
TEST(EachCall, OfAnLstm) {
  failEachCall("rnn fwd_i cell=lstm direction=left2right src_layer=f32:4x1x16:abc weights_layer=f32:1x1x16x4x16:any "
               "weights_iter=f32:1x1x16x4x16:any bias=f32:1x1x4x16:abcd dst_layer=f32:4x1x16:abc");
}

/// powf is OpenCL's there, all else as everywhere; what has elements of f64 is refused by name.
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

TEST(ADeviceWithoutF64, ComputesAllThatIsNotF64) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process of its own, whose driver reads this
  setenv("ZE_OPENCL_F64", "0", 1);
  EXPECT_EXIT(std::_Exit(runWithoutF64()), testing::ExitedWithCode(0), "");
  unsetenv("ZE_OPENCL_F64");
}

} // namespace
