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

} // namespace
