//===- RuntimeTest.cpp - Engines, streams and memory of a device ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"
#include "support/TestDriver.h"

#include "quern/quern_threadpool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace quern;
using namespace quern::test;
using testing::HasSubstr;

namespace {

engine gpu() { return engine(engine::kind::gpu, 0); }

TEST(LevelZero, AnEngineReportsItsTarget) {
  ASSERT_GE(engine::get_count(engine::kind::gpu), 1u);
  quern_engine_info_t info{};
  const engine device = gpu();
  EXPECT_EQ(device.get_kind(), engine::kind::gpu);
  ASSERT_EQ(quern_engine_get_info(device.get(), &info), quern_success);
  EXPECT_THAT(info.target, HasSubstr("spirv64:sg=8+16+32"));
  EXPECT_THAT(info.name, HasSubstr("Level Zero over OpenCL"));
  EXPECT_THAT(messageOf([] { engine(engine::kind::gpu, 1000); }), HasSubstr("there is no gpu engine 1000"));
}

/// Returns true if code for the first device uses vectors per work-item, if the driver reports device type `type`.
bool hasVectors(const char *type) {
  setenv("ZE_OPENCL_TYPE", type, 1);
  quern_engine_info_t info{};
  const engine device = gpu(); // owns the text of `info`
  quern_engine_get_info(device.get(), &info);
  return std::string_view(info.target).find(",vec=16") != std::string_view::npos;
}

TEST(ADevice, UsesPerWorkItemVectorsOnAGpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // separate processes, whose driver reads the type
  EXPECT_EXIT(std::_Exit(hasVectors("gpu") ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(hasVectors("cpu") ? 1 : 0), testing::ExitedWithCode(0), "");
}

TEST(LevelZero, AStepRunsAndMemoryIsMapped) {
  const engine device = gpu();
  stream order(device);
  DeviceRun run(device, softmaxLine("40"), addOne);
  run.fill();
  run.execute(order);
  order.wait();
  EXPECT_EQ(run.wrong(plusOne), 0u);
  EXPECT_EQ(std::string(run.kernel.info().linker), "driver");
  EXPECT_EQ(std::string(run.kernel.info().plan), "test kernel");
}

TEST(LevelZero, SubGroupsAndGroupMemoryWork) {
  const engine device = gpu();
  stream order(device);
  const auto sums = [](const VerifiedProblem &problem, const Target &target) {
    return makeDeviceArtifact(problem, target, "sum_rows", std::get<SoftmaxDesc>(problem.desc.op).src.dims[0], 64);
  };
  DeviceRun run(device, softmaxLine("3", 64), sums);
  run.fill();
  run.execute(order);
  order.wait();
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(run.result()[row], 64 * (64 * static_cast<float>(row) + 31.5f));
}

TEST(LevelZero, ExecutionsInOrderSeeEachOther) {
  const engine device = gpu();
  stream order(device);
  DeviceRun first(device, softmaxLine("64"), addOne), program(device, softmaxLine("64"), addTwoByRows);
  first.fill();
  // Launches and programs alternate, each on the result of the one before.
  memory from = first.src, to = first.dst;
  for (int i = 0; i < 40; ++i) {
    (i % 4 == 3 ? program.kernel : first.kernel).execute(order, {{QUERN_ARG_SRC, from}, {QUERN_ARG_DST, to}});
    std::swap(from, to);
  }
  order.wait();
  const std::vector<float> values = first.read(from);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(i) + 50) << i;
}

TEST(LevelZero, OutOfOrderExecutionsAreCompleteAfterWaiting) {
  const engine device = gpu();
  stream order(device, stream::flags::out_of_order);
  std::vector<DeviceRun> runs;
  for (int i = 0; i < 4; ++i) {
    runs.emplace_back(device, softmaxLine("16"), i % 2 ? DeviceRun::Maker(addTwoByRows) : DeviceRun::Maker(addOne));
    runs.back().fill(static_cast<float>(100 * i));
    runs.back().execute(order);
  }
  order.wait();
  for (size_t i = 0; i < runs.size(); ++i)
    EXPECT_EQ(runs[i].wrong(i % 2 ? plusTwo : plusOne), 0u) << i;
}

TEST(LevelZero, AProgramIsReplayedAndRecordedAgainForOtherArguments) {
  const engine device = gpu();
  stream order(device);
  DeviceRun run(device, softmaxLine("50"), addTwoByRows);
  for (int i = 0; i < 3; ++i) {
    run.fill(static_cast<float>(i));
    run.execute(order);
    order.wait();
    EXPECT_EQ(run.wrong(plusTwo), 0u) << i;
  }
  for (int i = 0; i < 20; ++i) { // more than the stream keeps
    memory other(run.desc.dst_desc(), device);
    run.fill(static_cast<float>(10 * i));
    run.kernel.execute(order, {{QUERN_ARG_SRC, run.src}, {QUERN_ARG_DST, other}});
    order.wait();
    EXPECT_EQ(run.read(other).back(), static_cast<float>(10 * i + 50 * rowLength - 1 + 2));
  }
}

TEST(LevelZero, AnOpenProgramTakesItsSizesFromTheExecution) {
  const engine device = gpu();
  stream order(device);
  for (int rows : {1, 7, 300, 7}) {
    DeviceRun program(device, softmaxLine("?"), addTwoByRows, softmaxLine(std::to_string(rows)));
    DeviceRun step(device, softmaxLine("?"), addRows, softmaxLine(std::to_string(rows)));
    program.fill();
    step.fill();
    program.execute(order);
    step.execute(order);
    order.wait();
    EXPECT_EQ(program.wrong(plusTwo), 0u) << rows;
    EXPECT_EQ(step.wrong([=](float x) { return x + static_cast<float>(rows); }), 0u) << rows;
  }
}

/// Computes dst = src · a host scalar, in one step or in a program of two.
Artifact scale(const VerifiedProblem &problem, const Target &target, bool inTwo) {
  Artifact artifact = makeDeviceArtifact(problem, target, "scale", std::get<SoftmaxDesc>(problem.desc.op).src.dims[0]);
  const auto placeOf = [&](int32_t index) {
    for (uint32_t i = 0; i < artifact.arguments.size(); ++i)
      if (artifact.arguments[i].index == index)
        return i;
    return ~0u;
  };
  artifact.steps[0].buffers = {
      {placeOf(QUERN_ARG_SRC), 0}, {placeOf(QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC), 0}, {placeOf(QUERN_ARG_DST), 0}};
  if (inTwo)
    artifact.steps.push_back(artifact.steps[0]);
  return artifact;
}

TEST(LevelZero, HostScalarsAreReadAtEachCall) {
  const engine device = gpu();
  stream order(device);
  for (bool inTwo : {false, true}) {
    DeviceRun run(device, softmaxLine("4", rowLength, "attr.scales=src(host=true)"),
                  [=](const VerifiedProblem &problem, const Target &target) { return scale(problem, target, inTwo); });
    run.fill();
    std::vector<memory> results;
    for (float factor : {2.0f, 3.0f, 2.0f}) {
      results.emplace_back(run.desc.dst_desc(), device);
      run.arguments[QUERN_ARG_DST] = results.back();
      run.arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC] =
          memory(memory::desc::host_scalar(memory::data_type::f32), factor);
      run.execute(order); // the scalar is freed before the device runs
    }
    order.wait();
    EXPECT_EQ(run.read(results[0])[5], 10);
    EXPECT_EQ(run.read(results[1])[5], 15);
    EXPECT_EQ(run.read(results[2])[5], 10);
  }
}

TEST(LevelZero, ProfilingGivesTheDevicesTimes) {
  const engine device = gpu();
  stream order(device, stream::flags::in_order | stream::flags::profiling);
  DeviceRun step(device, softmaxLine("1000"), addOne), program(device, softmaxLine("10"), addTwoByRows);
  step.fill();
  program.fill();
  for (int i = 0; i < 70; ++i) // more than a pool of events has
    step.execute(order);
  program.execute(order);
  int count = 0;
  ASSERT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, nullptr), quern_success);
  ASSERT_EQ(count, 71);
  std::vector<uint64_t> times(71);
  ASSERT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, times.data()),
            quern_success);
  for (uint64_t ns : times) {
    EXPECT_GT(ns, 0u);
    EXPECT_LT(ns, 10'000'000'000u);
  }
  EXPECT_EQ(step.wrong(plusOne) + program.wrong(plusTwo), 0u);
  ASSERT_EQ(quern_reset_profiling(order.get()), quern_success);
  ASSERT_EQ(quern_query_profiling_data(order.get(), quern_profiling_data_kind_time, &count, nullptr), quern_success);
  EXPECT_EQ(count, 0);
}

TEST(LevelZero, AKernelIsLoadedOnceForADevice) {
  const engine device = gpu();
  DeviceRun run(device, softmaxLine("8"), addOne);
  memory given(run.desc.src_desc(), device), same(run.desc.src_desc(), device, given.get_data_handle());
  EXPECT_EQ(given.get_data_handle(), same.get_data_handle());
}

TEST(LevelZero, ACacheBlobContainsTheDriversBinary) {
  const engine device = gpu();
  DeviceRun run(device, softmaxLine("8"), addOne);
  const std::vector<uint8_t> given = blobOf(device, softmaxLine("8"), addOne), blob = run.kernel.get_cache_blob();
  EXPECT_GT(blob.size(), given.size() + 1000) << "the binary of the driver follows the SPIR-V";
  const auto expectRuns = [&](const std::vector<uint8_t> &from) {
    stream order(device);
    run.fill(5);
    primitive(run.desc, from).execute(order, run.arguments);
    order.wait();
    EXPECT_EQ(run.wrong(plusOne), 0u);
  };
  expectRuns(blob);
  for (size_t cut : {blob.size() - 1, blob.size() / 2 + given.size() / 2, given.size() + 20}) // all SPIR-V is kept
    expectRuns({blob.begin(), blob.begin() + static_cast<ptrdiff_t>(cut)});
  for (size_t cut : {size_t(7), size_t(16), given.size() / 2})
    EXPECT_THAT(messageOf([&] { primitive(run.desc, {blob.begin(), blob.begin() + static_cast<ptrdiff_t>(cut)}); }),
                HasSubstr("the cache blob cannot be used"));
}

TEST(LevelZero, MemoryOfAnotherKindIsRefusedByName) {
  const engine device = gpu(), cpu(engine::kind::cpu, 0);
  const DeviceRun run(device, softmaxLine("8"), addOne);
  std::vector<float> ordinary(8 * rowLength);
  EXPECT_THAT(messageOf([&] { memory(run.desc.src_desc(), device, ordinary.data()); }),
              HasSubstr("is not memory that"));
  void *handle = run.src.get_data_handle();
  EXPECT_THAT(messageOf([&] { memory(run.desc.src_desc(), cpu, handle); }), HasSubstr("memory of a Level Zero device"));
  memory onCpu(run.desc.src_desc(), cpu, ordinary.data());
  EXPECT_THAT(messageOf([&] { onCpu.set_data_handle(handle); }), HasSubstr("memory of a Level Zero device"));
  EXPECT_EQ(onCpu.get_data_handle(), ordinary.data());
  EXPECT_THAT(messageOf([&] {
                stream order(device);
                run.kernel.execute(order, {{QUERN_ARG_SRC, onCpu}, {QUERN_ARG_DST, run.dst}});
              }),
              HasSubstr("argument 1 (src) is on another kind of engine"));
  EXPECT_THAT(messageOf([&] {
                stream order(cpu);
                run.kernel.execute(order, run.arguments);
              }),
              HasSubstr("the stream is of another engine"));
}

TEST(LevelZero, UnsupportedDeviceFeaturesAreRefused) {
  const engine device = gpu();
  const DeviceRun run(device, softmaxLine("8"), addOne);
  EXPECT_EQ(quern_primitive_get_launch_counts(run.kernel.get(), nullptr, nullptr, nullptr), quern_unimplemented);
  EXPECT_THAT(messageOf([&] { run.kernel.visit_launch({}, [](const quern_launch_call_t &) {}); }),
              HasSubstr("only those on a cpu have functions"));
  quern_stream_t order = nullptr;
  EXPECT_EQ(quern_threadpool_interop_stream_create(&order, device.get(), nullptr), quern_invalid_arguments);
  auto *mapped = run.src.map_data<float>();
  EXPECT_THAT(messageOf([&] { run.src.map_data<float>(); }), HasSubstr("is already mapped"));
  EXPECT_THAT(messageOf([&] { run.src.unmap_data(mapped + 1); }), HasSubstr("mapped_ptr"));
  run.src.unmap_data(mapped);
  const memory::desc huge({int64_t(1) << 50, 1024}, memory::data_type::f32, memory::format_tag::ab);
  EXPECT_THAT(messageOf([&] { memory(huge, device); }),
              testing::ContainsRegex("cannot allocate 4611686018427387904 bytes; .* allows [0-9]+"));
}

TEST(LevelZero, BuildErrorsContainTheLog) {
  const engine device = gpu();
  const auto broken = [](const VerifiedProblem &problem, const Target &target) {
    Artifact artifact = addOne(problem, target);
    artifact.code.resize(artifact.code.size() - 4);
    return artifact;
  };
  const std::string message = messageOf([&] { DeviceRun(device, softmaxLine("8"), broken); });
  EXPECT_THAT(message, HasSubstr("ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"));
  EXPECT_THAT(message, HasSubstr("SPIR-V"));
  const auto misnamed = [](const VerifiedProblem &problem, const Target &target) {
    Artifact artifact = addOne(problem, target);
    artifact.entries = {"no_such_kernel"};
    return artifact;
  };
  EXPECT_THAT(messageOf([&] { DeviceRun(device, softmaxLine("8"), misnamed); }),
              HasSubstr("ZE_RESULT_ERROR_INVALID_KERNEL_NAME"));
  const auto tooWide = [](const VerifiedProblem &problem, const Target &target) {
    Artifact artifact = addOne(problem, target);
    artifact.groups[0].workItems = 32; // the code requires 16
    return artifact;
  };
  EXPECT_THAT(messageOf([&] { DeviceRun(device, softmaxLine("8"), tooWide); }), HasSubstr("zeKernelSetGroupSize"));
}

/// Returns 0 if a child of fork(), which has no devices, can use the CPU without a call of the driver.
int useTheCpu(const DeviceRun &parents) {
  const int64_t before = driverCalls();
  const engine cpu(engine::kind::cpu, 0);
  std::vector<float> values(8 * rowLength);
  memory src(parents.desc.src_desc(), cpu, values.data());
  src.map_data<float>()[3] = 5;
  return values[3] == 5 && engine::get_count(engine::kind::gpu) == 0 && driverCalls() == before ? 0 : 1;
}

TEST(LevelZero, AChildOfForkHasOnlyTheCpu) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  const engine device = gpu();
  const DeviceRun run(device, softmaxLine("8"), addOne);
  const pid_t child = fork();
  if (child == 0)
    _exit(useTheCpu(run));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(LevelZero, MoreGroupsThanTheDeviceTakesAreRefused) {
  const engine device = gpu();
  const auto huge = [](const VerifiedProblem &problem, const Target &target) {
    return makeDeviceArtifact(problem, target, "nothing", int64_t(1) << 33);
  };
  DeviceRun run(device, softmaxLine("8"), huge);
  stream order(device);
  EXPECT_THAT(messageOf([&] { run.execute(order); }), HasSubstr("a launch step has 8589934592 work-groups"));
  order.wait();
}

} // namespace
