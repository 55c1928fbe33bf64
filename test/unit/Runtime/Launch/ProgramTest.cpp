//===- ProgramTest.cpp - Launch programs ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that memory is the same for every number of threads and every kind of pool; sizes that exceed buffers; errors.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"
#include "Runtime/Launch/ProgramModel.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestExecutable.h"
#include "Runtime/TestPools.h"
#include "Runtime/TestSupport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quern {
namespace {

using namespace test;

ExecutionContext on(threadpool_interop::threadpool_iface &pool) {
  ExecutionContext context;
  context.pool = &pool;
  context.threads = pool.get_num_threads();
  return context;
}

/// Returns a loop whose `trips` iterations mix a row with itself through a region.
ProgramModel longLoop(int64_t trips) {
  ProgramModel model;
  Artifact &artifact = model.artifact;
  artifact.entries = {"mix", "scratch"};
  artifact.scratchBytesPerThread = rowBytes;
  artifact.arguments.assign(3, {1, 1, 4 * rowBytes});
  artifact.regions = {rowBytes};
  artifact.loops = {{trips, 0, 2}};
  artifact.steps = {{0, rowElements, 1000, {}, {{0, 0}, {1, 0}, {3, 0}}},
                    {0, rowElements, 1000, {}, {{3, 0}, {1, 0}, {0, 0}}}};
  return model;
}

} // namespace

TEST(Program, RandomProgramsDoWhatTheArtifactSays) {
  std::mt19937_64 random(20240711);
  int parallel = 0;
  for (int i = 0; i < 200; ++i) {
    const ProgramModel model = randomProgram(random, i % 2);
    const ProgramModel::Memory expected = model.interpret();
    parallel += expected != model.start();
    ASSERT_EQ(model.run(ExecutionContext()), expected) << "one thread, program " << i;
    TestPool two(2, false), eight(8, true);
    ASSERT_EQ(model.run(on(two)), expected) << "two threads, program " << i;
    ASSERT_EQ(model.run(on(eight)), expected) << "eight threads, program " << i;
  }
  EXPECT_GT(parallel, 100) << "too few programs change the memory";
}

TEST(Program, PoolsMayRunMembersInAnyWay) {
  const ProgramModel model = longLoop(200);
  const ProgramModel::Memory expected = model.interpret();
  LonelyPool forward(4, false), backward(4, true);
  EXPECT_EQ(model.run(on(forward)), expected);
  EXPECT_EQ(model.run(on(backward)), expected);
  for (int delay : {1, 50, 2000}) {
    LatePool late(3, std::chrono::microseconds(delay));
    EXPECT_EQ(model.run(on(late)), expected) << delay << " us apart";
  }
  ExecutionContext context;
  context.threads = 2;
  EXPECT_EQ(model.run(context), expected) << "oneTBB";
}

TEST(Program, ManyRunsInARow) {
  const ProgramModel model = longLoop(300);
  const ProgramModel::Memory expected = model.interpret();
  for (int round = 0; round < 30; ++round) {
    ExecutionContext context;
    context.threads = 2;
    ASSERT_EQ(model.run(context), expected) << round;
    TestPool pool(2 + round % 7, round % 2);
    ASSERT_EQ(model.run(on(pool)), expected) << round;
    EXPECT_EQ(pool.calls, 1) << "one parallel region for all steps";
  }
}

TEST(Program, ManyProgramsAtOnce) {
  const ProgramModel model = longLoop(100);
  const ProgramModel::Memory expected = model.interpret();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      ExecutionContext context;
      context.threads = 2;
      for (int round = 0; round < 10; ++round)
        wrong += model.run(context) != expected;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// No member can allocate its scratch, in whatever order the members arrive.
TEST(Program, MissingScratchIsAnError) {
  ProgramModel model = longLoop(50);
  model.artifact.scratchBytesPerThread = int64_t(1) << 60;
  LonelyPool forward(3, false), backward(3, true);
  TestPool two(2, false), one(1, false);
  for (threadpool_interop::threadpool_iface *pool :
       std::initializer_list<threadpool_interop::threadpool_iface *>{&forward, &backward, &two, &one}) {
    Result<ProgramModel::Memory> done = model.tryRun(on(*pool));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().status, Status::OutOfMemory);
    EXPECT_EQ(done.error().message, concat("no memory for 1152921504606846976 bytes of scratch on each of ",
                                           pool->get_num_threads(), " threads"));
  }
}

TEST(Program, LittleWorkStaysOnTheCaller) {
  ProgramModel model = longLoop(10);
  for (LaunchStep &step : model.artifact.steps)
    step.nsPerIteration = 1; // 1 µs in total
  TestPool pool(4, false);
  EXPECT_EQ(model.run(on(pool)), model.interpret());
  EXPECT_EQ(pool.calls, 0);
}

TEST(Program, SizesThatExceedBuffersAreRefused) {
  ProgramModel model = longLoop(5);
  model.artifact.sizeCount = 1;
  Polynomial &offset = model.artifact.steps[1].buffers[0].byteOffset; // into a region of one row
  offset.terms = {{8, {0, symbolOfSize(0)}}, {-8, {0}}};
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows), reinterpret_cast<void *>(mixThroughScratch)};
  const Result<std::vector<KernelStep>> steps = stepsOf(model.artifact, functions);
  ASSERT_TRUE(steps);
  ASSERT_TRUE(program.take(model.artifact, *steps));
  std::vector<int64_t> numbers(program.numberCount());
  const auto bind = [&](int64_t size) { return program.bind(&size, nullptr, numbers.data()); };
  EXPECT_TRUE(bind(1));
  EXPECT_TRUE(bind(13));
  const int64_t fits = 13, leadsOut = 14;
  EXPECT_EQ(program.numbersFor(&fits), numbers);
  EXPECT_TRUE(program.numbersFor(&leadsOut).empty());
  EXPECT_EQ(bind(14).error().message, "launch step 1 begins between bytes 0 and 416 of buffer 3, which has 384");
  EXPECT_EQ(bind(0).error().message, "launch step 1 begins between bytes -32 and 0 of buffer 3, which has 384");
  EXPECT_EQ(bind(INT64_MAX / 4).error().status, Status::Unimplemented);
}

TEST(Program, BuffersOfOpenArgumentsHaveAnEnd) {
  ProgramModel model = longLoop(5);
  model.artifact.sizeCount = 1;
  model.artifact.arguments[0].bytes = 0; // known only at execution
  model.artifact.steps[0].buffers[0].byteOffset.terms = {{rowBytes, {0, symbolOfSize(0)}}};
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows)};
  const Result<std::vector<KernelStep>> steps = stepsOf(model.artifact, functions);
  ASSERT_TRUE(steps);
  ASSERT_TRUE(program.take(model.artifact, *steps));
  std::vector<int64_t> numbers(program.numberCount());
  const int64_t size = 3, enough[] = {12 * rowBytes, 0, 0}, less[] = {12 * rowBytes - 1, 0, 0};
  EXPECT_TRUE(program.bind(&size, enough, numbers.data()));
  EXPECT_TRUE(program.bind(&size, nullptr, numbers.data()));
  EXPECT_EQ(program.bind(&size, less, numbers.data()).error().status, Status::RuntimeError);
}

TEST(Program, RegionsBeyondMemoryAreRefused) {
  ProgramModel model = longLoop(5);
  model.artifact.sizeCount = 1;
  model.artifact.regions[0].terms = {{rowBytes, {symbolOfSize(0)}}};
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows)};
  const Result<std::vector<KernelStep>> steps = stepsOf(model.artifact, functions);
  ASSERT_TRUE(steps);
  ASSERT_TRUE(program.take(model.artifact, *steps));
  EXPECT_TRUE(program.hasOpenRegions());
  std::vector<int64_t> numbers(program.numberCount());
  for (int64_t size : {int64_t(-1), INT64_MAX / rowBytes + 1, INT64_MAX})
    EXPECT_FALSE(program.bind(&size, nullptr, numbers.data())) << size;
}

/// Rows of 16 elements go to a region in reverse order and from there to dst; their number is derived from dst's
/// initial contents.
class ProgramExecution : public testing::Test {
protected:
  static constexpr int64_t rowSize = 64;
  void SetUp() override {
    problem = verify(*PrimitiveDesc::parse(lineOf(64)), Target());
    ASSERT_TRUE(problem);
    artifact = makeTestArtifact(*problem, Target());
    problem->arguments[1].desc.dims[0] = runtimeDim;
    const uint32_t given = symbolOfSize(0), maximum = symbolOfSize(1);
    artifact.sizeCount = 1;
    artifact.derivedSizes = {{1, Polynomial(), Polynomial(), 16}};
    artifact.derivedSizes[0].limit.terms = {{1, {given}}};
    artifact.derivedSizes[0].count.terms = {{1, {given}}};
    Polynomial rows, forward, backward, bytes;
    rows.terms = {{1, {maximum}}};
    forward.terms = {{rowSize, {0}}};
    backward.terms = {{-rowSize, {}}, {-rowSize, {0}}, {rowSize, {maximum}}};
    bytes.terms = {{rowSize, {maximum}}};
    artifact.regions = {bytes};
    artifact.loops = {{rows, 0, 1}, {rows, 1, 2}};
    artifact.steps = {{0, 16, 1000, {}, {{0, forward}, {2, backward}}},
                      {0, 16, 1000, {}, {{2, backward}, {1, forward}}}};
  }
  Result<std::shared_ptr<const Executable>> load() { return test::loadArtifact(artifact, *problem); }
  Result<VerifiedProblem> problem = Error{Status::Internal, ""};
  Artifact artifact;
};

TEST_F(ProgramExecution, DerivesSizesAndPlacesRegions) {
  ASSERT_TRUE(Artifact::parse(artifact.serialize())) << Artifact::parse(artifact.serialize()).error().message;
  auto executable = load();
  ASSERT_TRUE(executable) << executable.error().message;
  for (int threads : {1, 3})
    for (int64_t given : {64, 5, 0})
      for (int32_t maximum : {0, 1, 4, 64, 1000, -3}) {
        std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, 0.0f);
        // The size is the maximum of every 16th element; the others are 0.
        std::memcpy(&dst[given > 2 ? 2 * 16 : 0], &maximum, sizeof(maximum));
        void *buffers[] = {src.data(), dst.data()};
        TestPool pool(threads, false);
        ExecutionContext context = on(pool);
        context.sizes = &given;
        Result<void> done = runSteps(**executable, buffers, context);
        ASSERT_TRUE(done) << done.error().message;
        const int64_t rows = std::clamp<int64_t>(maximum, 0, given);
        for (int64_t i = 0; i < 64 * 16; ++i) {
          const auto factor = static_cast<float>(2 + i % 4);
          if (i >= rows * 16 && i != 2 * 16 && i != 0)
            ASSERT_EQ(dst[static_cast<size_t>(i)], 0.0f) << i;
          else if (i < rows * 16)
            ASSERT_EQ(dst[static_cast<size_t>(i)], factor * factor) << i;
        }
      }
}

/// One step reads src from the row whose number is in dst.
TEST_F(ProgramExecution, RefusesNumbersThatExceedBuffers) {
  const uint32_t number = symbolOfSize(1), rows = symbolOfSize(2);
  Polynomial begin, twice, value;
  begin.terms = {{rowSize, {number}}};
  twice.terms = {{2, {number}}};
  value.terms = {{1, {rows}}};
  artifact.derivedSizes = {{1, {}, {}, {}, DerivedSize::Kind::Number, {}},
                           {0, {}, {}, {}, DerivedSize::Kind::Computed, twice}};
  artifact.checks = {{"twice the row", value, 0, 120}};
  artifact.regions.clear();
  artifact.loops.clear();
  artifact.steps = {{0, 16, 1000, {}, {{0, begin}, {1, 0}}}};
  ASSERT_TRUE(Artifact::parse(artifact.serialize())) << Artifact::parse(artifact.serialize()).error().message;
  auto executable = load();
  ASSERT_TRUE(executable) << executable.error().message;
  for (int32_t row : {0, 7, 60, 61, -1}) {
    std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, 0.0f);
    src[static_cast<size_t>(std::max(row, 0)) * 16] = 3.0f;
    std::memcpy(dst.data(), &row, sizeof(row));
    void *buffers[] = {src.data(), dst.data()};
    ExecutionContext context;
    const int64_t given = 64;
    context.threads = 1;
    context.sizes = &given;
    Result<void> done = runSteps(**executable, buffers, context);
    EXPECT_EQ(bool(done), row >= 0 && row <= 60) << row;
    if (!done)
      EXPECT_EQ(done.error().message, concat("twice the row is ", 2 * row, "; 0 to 120 is possible"));
    else
      EXPECT_EQ(dst[0], 6.0f);
  }
}

TEST_F(ProgramExecution, RegionsOfKnownSizeArePartOfTheScratch) {
  artifact.regions[0] = 5 * rowSize - 7;
  artifact.sharedScratchBytes = 100;
  auto executable = load();
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_FALSE((*executable)->program().hasOpenRegions());
  EXPECT_EQ((*executable)->scratch().shared, 128 + 5 * rowSize);
  EXPECT_EQ((*executable)->kernelSharedBytes(), 100);
  std::vector<char> scratchpad(static_cast<size_t>(scratchpadBytes((*executable)->scratch(), 2)) + 64, 0x5a);
  std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, 0.0f);
  const int32_t maximum = 4;
  std::memcpy(dst.data(), &maximum, sizeof(maximum));
  void *buffers[] = {src.data(), dst.data()};
  int64_t given = 5;
  ExecutionContext context;
  context.threads = 2;
  context.sizes = &given;
  context.scratchpad = scratchpad.data() + 1;
  ASSERT_TRUE(runSteps(**executable, buffers, context));
  EXPECT_EQ(dst[4 * 16 - 1], 25.0f);
  EXPECT_EQ(dst[4 * 16], 0.0f);
  EXPECT_TRUE(std::all_of(scratchpad.end() - 63, scratchpad.end(), [](char c) { return c == 0x5a; }));
}

TEST(ProgramApi, RunsWithTheSizesOfEachExecution) {
  engine device(engine::kind::cpu, 0);
  stream order(device);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  for (int64_t rows : {1, 7, 1000, 200000}) { // the last exceeds the scratch that a thread keeps
    const memory::desc desc({rows, 16}, memory::data_type::f32, memory::format_tag::ab);
    std::vector<float> src(static_cast<size_t>(rows) * 16), dst(src.size(), -7.0f);
    for (size_t i = 0; i < src.size(); ++i)
      src[i] = static_cast<float>(i % 1000);
    kernel.execute(
        order, {{QUERN_ARG_SRC, memory(desc, device, src.data())}, {QUERN_ARG_DST, memory(desc, device, dst.data())}});
    size_t wrong = 0;
    for (size_t i = 0; i < src.size(); ++i)
      wrong += dst[i] != static_cast<float>(2 + i % 4) * src[i];
    EXPECT_EQ(wrong, 0u) << rows;
  }
}

TEST(ProgramApi, AScratchpadOfOpenSizeIsRefused) {
  engine device(engine::kind::cpu, 0);
  primitive_desc desc(device, lineOfOpenRows() + " attr.scratchpad=user");
  EXPECT_EQ(statusOf([&] { primitive(desc).get_primitive_desc(); }), quern_unimplemented);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("the scratchpad depends on sizes that are known only at"),
            std::string::npos)
      << quern_get_last_error_message();
  EXPECT_EQ(quern_primitive_desc_query_md(desc.get(), quern_query_scratchpad_md, 0), nullptr);
}

TEST(ProgramApi, TheMemoryConsumptionOfOpenSizesIsRefused) {
  engine device(engine::kind::cpu, 0);
  primitive_desc desc(device, lineOfOpenRows());
  EXPECT_EQ(statusOf([&] { desc.memory_consumption(); }), quern_unimplemented);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("known only at execution; its size"), std::string::npos)
      << quern_get_last_error_message();
}

/// Runs a launch by itself, like a program without the runtime.
struct ByHand {
  std::vector<int64_t> sizes;
  std::vector<void *> buffers;
  std::vector<char> shared, scratch;
  int64_t calls = 0;

  static char *aligned(std::vector<char> &memory, size_t bytes) {
    memory.resize(bytes + 64);
    return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  }
  quern_launch_data_t dataFor(const primitive &kernel) {
    quern_launch_data_t data = {buffers.data(), sizes.data(), nullptr};
    const auto memory = kernel.get_launch_memory(&data);
    data.shared = memory.shared_bytes ? aligned(shared, memory.shared_bytes) : nullptr;
    return data;
  }
  void run(const primitive &kernel) {
    const quern_launch_data_t data = dataFor(kernel);
    char *alignedScratch = aligned(scratch, kernel.get_launch_memory(&data).scratch_bytes);
    kernel.visit_launch(data, [&](const quern_launch_call_t &call) {
      quern_kernel_args_t args = call.args;
      args.scratch = alignedScratch;
      const int64_t middle = call.iterations / 3;
      callKernel(call.function, args, middle, call.iterations);
      callKernel(call.function, args, 0, middle);
      ++calls;
    });
  }
#if defined(__clang__)
  __attribute__((no_sanitize("function"))) // generated code has no type metadata
#endif
  static void callKernel(quern_kernel_fn function, const quern_kernel_args_t &args, int64_t begin, int64_t end) {
    function(&args, begin, end);
  }
};

TEST(ProgramApi, AVisitReportsEveryCall) {
  engine device(engine::kind::cpu, 0);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  EXPECT_EQ(quern_kernel_abi_version(), 4u);
  EXPECT_EQ(kernel.launch_arguments(), (std::vector<int>{QUERN_ARG_SRC, QUERN_ARG_DST}));
  int sizes = 0;
  ASSERT_EQ(quern_primitive_get_launch_counts(kernel.get(), nullptr, &sizes, nullptr), quern_success);
  EXPECT_EQ(sizes, 2);
  for (int64_t rows : {0, 1, 7, 1000}) {
    std::vector<float> src(static_cast<size_t>(rows) * 16 + 1), dst(src.size(), -7.0f);
    for (size_t i = 0; i < src.size(); ++i)
      src[i] = static_cast<float>(i % 1000);
    ByHand launch{{rows, rows}, {src.data(), dst.data()}, {}, {}};
    launch.run(kernel);
    EXPECT_EQ(launch.calls, 2 * rows) << "two loops with one step each, for every row";
    size_t wrong = 0;
    for (size_t i = 0; i + 1 < src.size(); ++i)
      wrong += dst[i] != static_cast<float>(2 + i % 4) * src[i];
    EXPECT_EQ(wrong, 0u) << rows;
    EXPECT_EQ(dst.back(), -7.0f);
  }
}

TEST(ProgramApi, MissingArgumentsOfAVisitAreRefused) {
  engine device(engine::kind::cpu, 0);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  std::vector<float> src(7 * 16), dst(src.size());
  ByHand launch{{7, 7}, {src.data(), dst.data()}, {}, {}};
  const quern_launch_data_t data = launch.dataFor(kernel);
  const auto visit = [&](quern_launch_data_t with) {
    int calls = 0;
    const quern_status_t status = quern_primitive_visit_launch(
        kernel.get(), &with,
        [](void *count, const quern_launch_call_t *) { return ++*static_cast<int *>(count), quern_success; }, &calls);
    EXPECT_EQ(calls, status == quern_success ? 14 : 0);
    return status == quern_success ? "" : std::string(quern_get_last_error_message());
  };
  EXPECT_EQ(visit(data), "");
  EXPECT_THAT(visit({nullptr, data.sizes, data.shared}),
              testing::HasSubstr("buffers is null; the launch has 2 arguments"));
  EXPECT_THAT(visit({data.buffers, nullptr, data.shared}), testing::HasSubstr("sizes is null; the launch takes 2"));
  EXPECT_THAT(visit({data.buffers, data.sizes, nullptr}),
              testing::HasSubstr("shared is null; the launch shares 448 bytes"));
  EXPECT_THAT(visit({data.buffers, data.sizes, static_cast<char *>(data.shared) + 4}),
              testing::HasSubstr("aligned to 64 bytes"));
  const int64_t many[] = {INT64_MAX / 2, 1};
  EXPECT_THAT(visit({data.buffers, many, data.shared}), testing::HasSubstr("beyond int64"));

  size_t bytes = 0;
  int32_t value = 0;
  EXPECT_EQ(quern_primitive_get_launch_memory(kernel.get(), nullptr, &bytes, &bytes), quern_invalid_arguments);
  EXPECT_EQ(quern_primitive_get_launch_argument(kernel.get(), 2, &value, nullptr, nullptr), quern_invalid_arguments);
  EXPECT_EQ(quern_primitive_get_launch_argument(kernel.get(), -1, &value, nullptr, nullptr), quern_invalid_arguments);
  quern_kernel_fn function = nullptr;
  EXPECT_EQ(quern_primitive_get_launch_function(kernel.get(), 0, &function), quern_success);
  EXPECT_TRUE(function);
  EXPECT_EQ(quern_primitive_get_launch_function(kernel.get(), 100, &function), quern_invalid_arguments);
}

TEST(ProgramApi, NullsOfALaunchAreRefused) {
  engine device(engine::kind::cpu, 0);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  const const_quern_primitive_t k = kernel.get();
  const quern_launch_data_t data{};
  const quern_launch_visitor_t visitor = [](void *, const quern_launch_call_t *) { return quern_success; };
  size_t bytes = 0;
  quern_kernel_fn function = nullptr;
  const auto isRefused = [](quern_status_t status, const char *what) {
    EXPECT_EQ(status, quern_invalid_arguments) << what;
    EXPECT_EQ(std::string(quern_get_last_error_message()), what + std::string(" is null"));
  };
  isRefused(quern_primitive_get_launch_counts(nullptr, nullptr, nullptr, nullptr), "primitive");
  isRefused(quern_primitive_get_launch_argument(nullptr, 0, nullptr, nullptr, nullptr), "primitive");
  isRefused(quern_primitive_get_launch_function(nullptr, 0, &function), "primitive");
  isRefused(quern_primitive_get_launch_function(k, 0, nullptr), "function");
  isRefused(quern_primitive_get_launch_memory(nullptr, &data, &bytes, &bytes), "primitive");
  isRefused(quern_primitive_get_launch_memory(k, &data, nullptr, &bytes), "scratch_bytes");
  isRefused(quern_primitive_get_launch_memory(k, &data, &bytes, nullptr), "shared_bytes");
  isRefused(quern_primitive_visit_launch(nullptr, &data, visitor, nullptr), "primitive");
  isRefused(quern_primitive_visit_launch(k, nullptr, visitor, nullptr), "data");
  isRefused(quern_primitive_visit_launch(k, &data, nullptr, nullptr), "visitor");
}

TEST(ProgramApi, AVisitorCanEndTheVisit) {
  engine device(engine::kind::cpu, 0);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  std::vector<float> src(7 * 16), dst(src.size());
  ByHand launch{{7, 7}, {src.data(), dst.data()}, {}, {}};
  const quern_launch_data_t data = launch.dataFor(kernel);
  int calls = 0;
  const auto third = [](void *count, const quern_launch_call_t *) {
    return ++*static_cast<int *>(count) == 3 ? quern_not_required : quern_success;
  };
  EXPECT_EQ(quern_primitive_visit_launch(kernel.get(), &data, third, &calls), quern_not_required);
  EXPECT_EQ(calls, 3);
  EXPECT_THROW(kernel.visit_launch(data, [](const quern_launch_call_t &) { throw 42; }), int);
}

TEST(Program, OffsetsOfAStepAloneAreCheckedToo) {
  ProgramModel model = longLoop(5);
  Artifact &artifact = model.artifact;
  artifact.steps.resize(1);
  artifact.loops.clear();
  artifact.regions.clear();
  artifact.sizeCount = 1;
  void *functions[] = {reinterpret_cast<void *>(mixRows)};
  const auto isPlain = [&](const Polynomial &offset) {
    for (StepBuffer &buffer : artifact.steps[0].buffers)
      buffer = {0, offset};
    Program program;
    const Result<std::vector<KernelStep>> steps = stepsOf(artifact, functions);
    return program.take(artifact, *steps) && program.isPlain();
  };
  EXPECT_TRUE(isPlain(rowBytes));
  EXPECT_FALSE(isPlain(-8));
  EXPECT_FALSE(isPlain(artifact.arguments[0].bytes + 8));
  Polynomial bySize;
  bySize.terms = {{rowBytes, {symbolOfSize(0)}}};
  EXPECT_FALSE(isPlain(bySize)) << "the offset of the buffer depends on the size";
}

} // namespace quern
