//===- FailureTest.cpp - Failing calls of the driver ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests each call of the driver failing in turn: the library returns an error with the cause, releases its objects and
// works again.
//
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"
#include "support/TestDriver.h"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

using namespace quern;
using namespace quern::test;

namespace {

struct Failure {
  ze_result_t result;
  const char *name;
};

/// Creates an engine and a stream, runs an execution, waits for it and checks its result.
void runOnce(const DeviceRun::Maker &make, float sum, unsigned flags) {
  const engine device(engine::kind::gpu, 0);
  quern_stream_t made = nullptr;
  error::wrap_c_api(quern_stream_create(&made, device.get(), flags), "could not create a stream");
  stream order;
  order.reset(made);
  DeviceRun run(device, softmaxLine("2"), make);
  run.fill(1);
  run.execute(order);
  run.execute(order);
  order.wait();
  if (flags & quern_stream_profiling) {
    int count = 0;
    error::wrap_c_api(quern_query_profiling_data(made, quern_profiling_data_kind_time, &count, nullptr),
                      "could not ask for times");
  }
  ASSERT_EQ(run.wrong([=](float x) { return x + sum; }), 0u);
}

void failEachCall(const DeviceRun::Maker &make, float sum, unsigned flags, Failure failure) {
  runOnce(make, sum, flags); // the devices that this finds stay known
  const int64_t callsBefore = driverCalls(), objects = driverObjects();
  runOnce(make, sum, flags);
  const int64_t calls = driverCalls() - callsBefore;
  ASSERT_EQ(driverObjects(), objects);
  ASSERT_GT(calls, 20);
  for (int64_t n = 1; n <= calls; ++n) {
    SCOPED_TRACE(concat("call ", n, " of ", calls));
    failDriverCall(n, failure.result);
    std::string message;
    try {
      runOnce(make, sum, flags);
    } catch (const error &failed) {
      message = failed.what();
    }
    failDriverCall(0, 0);
    EXPECT_NE(message.find(failure.name), std::string::npos) << message;
    EXPECT_EQ(driverObjects(), objects);
    if (n % 8 == 0)
      runOnce(make, sum, flags);
  }
}

#define FAILURE(name)                                                                                                  \
  Failure { name, #name }

TEST(EachCall, MayFailInAStep) {
  failEachCall(addOne, 1, quern_stream_in_order, FAILURE(ZE_RESULT_ERROR_DEVICE_LOST));
  failEachCall(addOne, 1, quern_stream_out_of_order, FAILURE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY));
}

TEST(EachCall, MayFailInAProgram) {
  failEachCall(addTwoByRows, 2, quern_stream_in_order, FAILURE(ZE_RESULT_ERROR_DEVICE_LOST));
  failEachCall(addTwoByRows, 2, quern_stream_in_order, FAILURE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY));
}

TEST(EachCall, MayFailInAProfiledProgram) {
  failEachCall(addTwoByRows, 2, quern_stream_in_order | quern_stream_profiling,
               FAILURE(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE));
}

} // namespace
