//===- ExecuteTest.cpp - Execution ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests threads, pools, scratch, floating-point environment, aliasing and empty tensors; every element is checked.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestExecutable.h"
#include "Runtime/TestPools.h"
#include "Runtime/TestSupport.h"
#include "Support/FloatControl.h"

#include "quern/quern_threadpool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

using test::TestPool;

/// The default and other words: each rounding mode, denormals as zeros, traps, and sticky flags.
constexpr floatControl::Word callersControls[] = {
#if defined(__x86_64__)
    0x1f80, 0xffc0, 0x7f80, 0x9fc0, 0x1fa1
#else
    0, 0x00c00000, 0x01800000, 0x03400000, 0x9f00000000, 0x0000000801000000
#endif
};

#if defined(__clang__)
__attribute__((no_sanitize("function"))) // generated code has no type metadata
#endif
void call(quern_kernel_fn function, const quern_kernel_args_t &arguments, int64_t begin, int64_t end) {
  function(&arguments, begin, end);
}

class ExecuteTest : public testing::Test {
protected:
  void SetUp() override { saved = get_num_threads(); }
  void TearDown() override { set_num_threads(saved); }
  engine device{engine::kind::cpu, 0};
  stream order{device};
  int saved = 1;
};

TEST_F(ExecuteTest, AnyNumberOfThreadsGivesTheSame) {
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    for (int64_t rows : {1, 3, 64, 1023}) {
      for (const char *alg : {"accurate", "log"}) {
        test::Run run(device, test::lineOf(rows, alg));
        run.execute(order);
        EXPECT_EQ(run.wrong(), 0u) << threads << " threads, " << rows << " rows, " << alg;
      }
    }
  }
}

/// oneTBB's threads sometimes hold its locks, such as when they go to sleep after their work; a child process inherits
/// the locks but not the threads.
TEST_F(ExecuteTest, ChildrenOfAForkRunOnTheirOwnThread) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  set_num_threads(2);
  test::Run run(device, test::lineOf(1023));
  for (int i = 0; i < 400; ++i) {
    run.execute(order);
    std::this_thread::sleep_for(std::chrono::microseconds(i % 100));
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      run.dst.assign(run.dst.size(), -7.0f);
      run.execute(order);
      (i % 40 ? _exit : exit)(run.wrong() ? 1 : 0); // some also run the destructors of all libraries
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << i;
  }
}

TEST_F(ExecuteTest, RunsOnTheThreadPoolOfTheUser) {
  for (bool isAsynchronous : {false, true}) {
    TestPool pool(3, isAsynchronous);
    stream pooled = threadpool_interop::make_stream(device, &pool);
    test::Run run(device, test::lineOf(512, "log"));
    run.execute(pooled);
    EXPECT_EQ(run.wrong(), 0u);
    EXPECT_EQ(pool.calls, 1);
    EXPECT_EQ(pool.largest, 3);
    pool.inParallel = true;
    run.execute(pooled);
    EXPECT_EQ(pool.calls, 1) << "a kernel started inside the pool stays on its thread";
    void *found = nullptr;
    EXPECT_EQ(quern_threadpool_interop_stream_get_threadpool(pooled.get(), &found), quern_success);
    EXPECT_EQ(found, static_cast<void *>(&pool));
  }
  stream sequential = threadpool_interop::make_stream(device, nullptr);
  test::Run run(device, test::lineOf(512));
  run.execute(sequential);
  EXPECT_EQ(run.wrong(), 0u);
}

TEST_F(ExecuteTest, LittleWorkStaysOnOneThread) {
  TestPool pool(4, false);
  stream pooled = threadpool_interop::make_stream(device, &pool);
  test::Run run(device, test::lineOf(2)); // 32 iterations of 100 ns
  run.execute(pooled);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(pool.calls, 0);
}

TEST_F(ExecuteTest, OnePrimitiveOnManyThreads) {
  set_num_threads(2);
  for (const char *alg : {"accurate", "log"}) {
    test::Run shared(device, test::lineOf(100, alg));
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          std::vector<float> dst(shared.dst.size(), -7.0f);
          shared.kernel.execute(order, {{QUERN_ARG_SRC, shared.arguments.at(QUERN_ARG_SRC)},
                                        {QUERN_ARG_DST, memory(shared.desc.dst_desc(), device, dst.data())}});
          for (size_t j = 0; j < dst.size(); ++j)
            wrong += dst[j] != static_cast<float>(2 + j % 4) * shared.src[j];
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0u);
  }
}

TEST_F(ExecuteTest, KernelsSeeTheDefaultFloatEnvironment) {
  for (int threads : {1, 2}) {
    set_num_threads(threads);
    test::Run run(device, test::lineOf(512, "accurate_inf_as_zero"));
    const floatControl::Word saved = floatControl::read();
    for (floatControl::Word set : callersControls) {
      floatControl::write(set);
      run.execute(order);
      const floatControl::Word left = floatControl::read();
      floatControl::write(saved);
      EXPECT_EQ(left, set);
      for (float seen : run.dst)
        ASSERT_EQ(seen, static_cast<float>(floatControl::standard)) << "the caller's control word is " << set;
    }
  }
}

TEST_F(ExecuteTest, InPlace) {
  test::Run run(device, test::lineOf(64));
  run.arguments[QUERN_ARG_DST] = run.arguments[QUERN_ARG_SRC];
  const std::vector<float> before = run.src;
  run.execute(order);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(run.src[i], static_cast<float>(2 + i % 4) * before[i]);
}

TEST_F(ExecuteTest, EmptyTensors) {
  test::Run run(device, test::lineOf(0));
  EXPECT_EQ(run.kernel.info().origin, quern_origin_none);
  EXPECT_STREQ(run.kernel.info().linker, "none");
  run.execute(order);
  run.kernel.visit_launch({}, [](const quern_launch_call_t &) { ADD_FAILURE() << "an empty problem has no calls"; });
  EXPECT_EQ(run.desc.memory_consumption(), 0);
  EXPECT_EQ(test::statusOf([&] { run.kernel.get_cache_blob(); }), quern_not_required);
  EXPECT_EQ(test::statusOf([&] { run.kernel.execute(order, {}); }), quern_invalid_arguments)
      << "arguments are checked even for empty problems";
}

TEST_F(ExecuteTest, CallersScratchpad) {
  set_num_threads(3);
  const std::string line = test::lineOf(256, "log") + " attr.scratchpad=user";
  test::Run run(device, line);
  const memory::desc desc = run.desc.scratchpad_desc();
  ASSERT_EQ(desc.get_ndims(), 1);
  EXPECT_EQ(desc.get_data_type(), memory::data_type::u8);
  EXPECT_EQ(desc.get_size(), 3 * 1024 + 64u) << "a slot of 1000 bytes, rounded up, per thread, plus alignment";
  EXPECT_EQ(run.desc.memory_consumption(), 0);
  EXPECT_EQ(test::statusOf([&] { run.execute(order); }), quern_invalid_arguments);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("(scratchpad) is missing"), std::string::npos);
  std::vector<uint8_t> buffer(desc.get_size() + 1 + 64, 0xa5); // misaligned by one byte, with canaries on both sides
  run.arguments[QUERN_ARG_SCRATCHPAD] = memory(desc, device, buffer.data() + 1);
  set_num_threads(8); // more threads than the scratchpad has slots for
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(buffer[0], 0xa5);
  for (size_t i = 1 + desc.get_size(); i < buffer.size(); ++i)
    EXPECT_EQ(buffer[i], 0xa5);
}

TEST_F(ExecuteTest, LibraryScratchpadIsReported) {
  set_num_threads(2);
  primitive_desc desc(device, test::lineOf(256, "log"));
  EXPECT_TRUE(desc.scratchpad_desc().is_zero());
  EXPECT_EQ(desc.memory_consumption(), 2 * 1024 + 64);
  EXPECT_EQ(primitive_desc(device, test::lineOf(256)).memory_consumption(), 0);
}

TEST_F(ExecuteTest, EntryIsCallable) {
  test::Run run(device, test::lineOf(64, "log"));
  EXPECT_EQ(run.kernel.launch_arguments(), (std::vector<int>{QUERN_ARG_SRC, QUERN_ARG_DST}));
  int isOutput = 0;
  int64_t bytes = 0;
  ASSERT_EQ(quern_primitive_get_launch_argument(run.kernel.get(), 1, nullptr, &isOutput, &bytes), quern_success);
  EXPECT_TRUE(isOutput);
  EXPECT_EQ(bytes, 64 * 16 * 4);
  EXPECT_EQ(run.kernel.get_launch_memory().scratch_bytes, static_cast<size_t>(test::scratchBytes));
  alignas(64) char scratch[1024];
  void *buffers[] = {run.src.data(), run.dst.data()};
  int calls = 0;
  run.kernel.visit_launch({buffers, nullptr, nullptr}, [&](const quern_launch_call_t &launched) {
    EXPECT_EQ(launched.buffer_count, 2);
    const quern_kernel_args_t arguments{launched.args.buffers, scratch};
    const int64_t middle = launched.iterations / 3;
    call(launched.function, arguments, middle, launched.iterations);
    call(launched.function, arguments, 0, middle);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run.wrong(), 0u);
}

TEST_F(ExecuteTest, StepsShareScratch) {
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    for (int64_t rows : {64, 1024, 64 * 2100}) { // the last exceeds what a thread keeps
      test::Run run(device, test::lineOfTwoSteps(rows));
      for (int round = 0; round < 2; ++round) {
        run.dst.assign(run.dst.size(), -7.0f);
        run.execute(order);
        ASSERT_EQ(run.wrong(), 0u) << threads << " threads, " << rows << " rows";
      }
    }
  }
}

TEST_F(ExecuteTest, ExecutionsShareNothing) {
  set_num_threads(2);
  test::Run shared(device, test::lineOfTwoSteps(256));
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i)
    threads.emplace_back([&, i] {
      std::vector<float> src(shared.src.size(), static_cast<float>(i)), dst(src.size());
      for (int round = 0; round < 50; ++round) {
        shared.kernel.execute(order, {{QUERN_ARG_SRC, memory(shared.desc.src_desc(), device, src.data())},
                                      {QUERN_ARG_DST, memory(shared.desc.dst_desc(), device, dst.data())}});
        for (size_t j = 0; j < dst.size(); ++j)
          wrong += dst[j] != static_cast<float>(2 + j % 4) * src[j];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
}

/// A pool that runs another execution on the waiting thread, as work-stealing pools may.
class NestingPool : public TestPool {
public:
  NestingPool(std::function<void()> other) : TestPool(2, true), other(std::move(other)) {}
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    TestPool::parallel_for(n, fn);
    other();
  }

private:
  std::function<void()> other;
};

TEST_F(ExecuteTest, NestedExecutionHasItsOwnSharedScratch) {
  set_num_threads(1);
  test::Run inner(device, test::lineOfTwoSteps(512)), outer(device, test::lineOfTwoSteps(512));
  for (float &value : inner.src)
    value += 1000;
  NestingPool pool([&] { inner.execute(order); });
  stream pooled = threadpool_interop::make_stream(device, &pool);
  for (int round = 1; round <= 20; ++round) {
    outer.execute(pooled);
    EXPECT_EQ(pool.calls, round) << "one parallel region for all steps";
    ASSERT_EQ(outer.wrong(), 0u);
    ASSERT_EQ(inner.wrong(), 0u);
  }
}

TEST_F(ExecuteTest, CallersScratchpadHasASharedPart) {
  set_num_threads(3);
  test::Run run(device, test::lineOfTwoSteps(64) + " attr.scratchpad=user");
  const memory::desc desc = run.desc.scratchpad_desc();
  EXPECT_EQ(desc.get_size(), 4096 + 3 * 1024 + 64u) << "the shared part, a slot per thread, plus alignment";
  EXPECT_EQ(primitive_desc(device, test::lineOfTwoSteps(64)).memory_consumption(), 4096 + 3 * 1024 + 64);
  std::vector<uint8_t> buffer(desc.get_size() + 1 + 64, 0xa5);
  run.arguments[QUERN_ARG_SCRATCHPAD] = memory(desc, device, buffer.data() + 1);
  set_num_threads(8);
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(buffer[0], 0xa5);
  for (size_t i = 1 + desc.get_size(); i < buffer.size(); ++i)
    EXPECT_EQ(buffer[i], 0xa5);
}

TEST_F(ExecuteTest, StepsAreCallable) {
  test::Run run(device, test::lineOfTwoSteps(64));
  EXPECT_EQ(run.kernel.get_launch_memory().shared_bytes, 4096u);
  EXPECT_EQ(run.kernel.info().shared_bytes, 4096);
  alignas(64) char scratch[1024], shared[4096];
  void *buffers[] = {run.src.data(), run.dst.data()};
  int calls = 0;
  run.kernel.visit_launch({buffers, nullptr, shared}, [&](const quern_launch_call_t &launched) {
    const quern_kernel_args_t arguments{launched.args.buffers, scratch, launched.args.shared, nullptr};
    const int64_t middle = launched.iterations / 3;
    call(launched.function, arguments, middle, launched.iterations);
    call(launched.function, arguments, 0, middle);
    ++calls;
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(run.wrong(), 0u);
}

/// Independent steps on parts of the buffers, with different lengths and costs: they run in one parallel region, and
/// every element is computed once.
TEST_F(ExecuteTest, IndependentStepsShareTheThreads) {
  Result<VerifiedProblem> problem = verify(*PrimitiveDesc::parse(test::lineOf(64)), Target());
  ASSERT_TRUE(problem);
  struct Part {
    int64_t elements, ns;
  };
  constexpr Part parts[] = {{64, 100}, {512, 1}, {0, 7}, {16, 3000}, {432, 0}};
  Artifact artifact = test::makeTestArtifact(*problem, Target());
  artifact.steps.clear();
  int64_t at = 0;
  for (const Part &part : parts) {
    artifact.steps.push_back({0, part.elements, part.ns, {}, {{0, at * 4}, {1, at * 4}}, at > 0});
    at += part.elements;
  }
  artifact.steps.push_back({0, 16, 1, {}, {{1, 0}, {1, 0}}}); // runs after all of those: the first row again
  auto executable = test::loadArtifact(artifact, *problem);
  ASSERT_TRUE(executable) << executable.error().message;
  for (int threads : {1, 2, 3, 7}) {
    std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, -7.0f);
    void *buffers[] = {src.data(), dst.data()};
    TestPool pool(threads, false);
    ExecutionContext context;
    context.threads = threads;
    context.pool = &pool;
    ASSERT_TRUE(runSteps(**executable, buffers, context));
    EXPECT_EQ(pool.calls, threads > 1 ? 1 : 0);
    for (int64_t i = 0; i < 64 * 16; ++i) {
      const auto factor = static_cast<float>(2 + i % 4);
      ASSERT_EQ(dst[static_cast<size_t>(i)], i < 16 ? factor * factor : factor) << threads << " threads, " << i;
    }
  }
}

/// A problem with an open number of rows, executed whole.
TEST_F(ExecuteTest, FactorsMultiplyIterations) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(test::lineOf(64));
  ASSERT_TRUE(desc);
  Result<VerifiedProblem> problem = verify(*desc, Target());
  ASSERT_TRUE(problem);
  Artifact artifact = test::makeTestArtifact(*problem, Target());
  problem->arguments[1].desc.dims[0] = runtimeDim;
  artifact.sizeCount = 1;
  artifact.steps = {{0, 16, 100, {{0, 1}}}};
  EXPECT_FALSE(test::loadArtifact(test::makeTestArtifact(*problem, Target()), *problem))
      << "the artifact has no runtime size, but the problem has one";
  auto executable = test::loadArtifact(artifact, *problem);
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_EQ((*executable)->program().sizeCount(), 1u);
  for (int64_t rows : {0, 1, 7, 64}) {
    std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, -7.0f);
    void *buffers[] = {src.data(), dst.data()};
    ExecutionContext context;
    context.threads = 3;
    context.sizes = &rows;
    ASSERT_TRUE(runSteps(**executable, buffers, context));
    for (int64_t i = 0; i < 64 * 16; ++i)
      ASSERT_EQ(dst[static_cast<size_t>(i)], i < rows * 16 ? static_cast<float>(2 + i % 4) : -7.0f);
  }
  artifact.steps = {{0, 3, 100, {{0, 16}, {0, 5}}}}; // 3 · ceil(64 / 16) · ceil(64 / 5)
  executable = test::loadArtifact(artifact, *problem);
  ASSERT_TRUE(executable);
  std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, -7.0f);
  void *buffers[] = {src.data(), dst.data()};
  ExecutionContext context;
  int64_t size = 64;
  context.sizes = &size;
  ASSERT_TRUE(runSteps(**executable, buffers, context));
  EXPECT_EQ(std::count(dst.begin(), dst.end(), -7.0f), 64 * 16 - 3 * 4 * 13);
  size = INT64_MAX;
  EXPECT_EQ(runSteps(**executable, buffers, context).error().status, Status::Unimplemented);
}

TEST_F(ExecuteTest, ProfilesStreams) {
  stream profiled(device, stream::flags::in_order | stream::flags::profiling);
  test::Run run(device, test::lineOf(64));
  run.execute(profiled);
  run.execute(profiled);
  int count = 0;
  EXPECT_EQ(quern_query_profiling_data(profiled.get(), quern_profiling_data_kind_time, &count, nullptr), quern_success);
  ASSERT_EQ(count, 2);
  uint64_t ns[2] = {};
  EXPECT_EQ(quern_query_profiling_data(profiled.get(), quern_profiling_data_kind_time, &count, ns), quern_success);
  EXPECT_GT(ns[0], 0u);
  EXPECT_EQ(quern_reset_profiling(profiled.get()), quern_success);
  EXPECT_EQ(quern_query_profiling_data(profiled.get(), quern_profiling_data_kind_time, &count, nullptr), quern_success);
  EXPECT_EQ(count, 0);
}

TEST_F(ExecuteTest, ObjectsMayBeDestroyedInAnyOrder) {
  quern_engine_t first = nullptr;
  ASSERT_EQ(quern_engine_create(&first, quern_cpu, 0), quern_success);
  engine owner(first);
  auto run = std::make_unique<test::Run>(owner, test::lineOf(16));
  stream queue(owner);
  owner = engine();
  run->execute(queue);
  EXPECT_EQ(run->wrong(), 0u);
  primitive kernel = run->kernel;
  const auto arguments = run->arguments;
  run->desc = primitive_desc();
  kernel.execute(queue, arguments);
  EXPECT_EQ(run->wrong(), 0u);
}

} // namespace
} // namespace quern
