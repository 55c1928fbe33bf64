//===- ProgramTest.cpp - Launch programs ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same memory for every number of threads and every kind of pool; sizes that lead out of buffers; errors.
//
//===----------------------------------------------------------------------===//
#include "Cpu/CpuExecutable.h"
#include "Cpu/Execute.h"
#include "Runtime/ProgramModel.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestPools.h"
#include "Runtime/TestSupport.h"

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

/// A row that 200 turns of a loop mix with itself by way of a region.
ProgramModel longLoop(int64_t trips) {
  ProgramModel model;
  Artifact &artifact = model.artifact;
  artifact.entries = {"mix", "scratch"};
  artifact.scratchBytesPerThread = rowBytes;
  artifact.arguments.assign(3, {1, 1, 4 * rowBytes});
  artifact.regions = {rowBytes};
  artifact.loops = {{trips, 0, 2}};
  artifact.steps = {{0, rowElements, 1000, {}, {{0, 0}, {1, 0}, {3, 0}}}, {0, rowElements, 1000, {}, {{3, 0}, {1, 0}, {0, 0}}}};
  return model;
}

} // namespace

TEST(Program, RandomProgramsAreWhatTheCInterfaceSays) {
  std::mt19937_64 random(20240711);
  int parallel = 0;
  for (int i = 0; i < 200; ++i) {
    const ProgramModel model = randomProgram(random, i % 2);
    const ProgramModel::Memory expected = model.walk();
    parallel += expected != model.start();
    ASSERT_EQ(model.run(ExecutionContext()), expected) << "one thread, program " << i;
    TestPool two(2, false), eight(8, true);
    ASSERT_EQ(model.run(on(two)), expected) << "two threads, program " << i;
    ASSERT_EQ(model.run(on(eight)), expected) << "eight threads, program " << i;
  }
  EXPECT_GT(parallel, 100) << "programs that do something";
}

TEST(Program, PoolsMayRunMembersInAnyWay) {
  const ProgramModel model = longLoop(200);
  const ProgramModel::Memory expected = model.walk();
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
  const ProgramModel::Memory expected = model.walk();
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
  const ProgramModel::Memory expected = model.walk();
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

// Whether no member has memory or all but one that comes later.
TEST(Program, ScratchThatIsNotThereIsAnError) {
  ProgramModel model = longLoop(50);
  model.artifact.scratchBytesPerThread = int64_t(1) << 60;
  LonelyPool forward(3, false), backward(3, true);
  TestPool two(2, false), one(1, false);
  for (threadpool_interop::threadpool_iface *pool :
       std::initializer_list<threadpool_interop::threadpool_iface *>{&forward, &backward, &two, &one}) {
    Result<ProgramModel::Memory> done = model.tryRun(on(*pool));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().status, Status::OutOfMemory);
    EXPECT_EQ(done.error().message,
              concat("no memory for 1152921504606846976 bytes of scratch on each of ", pool->get_num_threads(), " threads"));
  }
}

TEST(Program, LittleWorkStaysOnTheCaller) {
  ProgramModel model = longLoop(10);
  for (LaunchStep &step : model.artifact.steps)
    step.nsPerIteration = 1; // a microsecond in all
  TestPool pool(4, false);
  EXPECT_EQ(model.run(on(pool)), model.walk());
  EXPECT_EQ(pool.calls, 0);
}

TEST(Program, SizesThatLeadOutOfBuffersAreRefused) {
  ProgramModel model = longLoop(5);
  model.artifact.sizeCount = 1;
  Polynomial &offset = model.artifact.steps[1].buffers[0].byteOffset; // of a region of one row
  offset.terms = {{8, {0, symbolOfSize(0)}}, {-8, {0}}};
  Entry entry;
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows), reinterpret_cast<void *>(mixThroughScratch)};
  ASSERT_TRUE(entry.take(model.artifact, functions));
  ASSERT_TRUE(program.take(model.artifact, entry.steps()));
  std::vector<int64_t> numbers(program.numberCount());
  const auto bind = [&](int64_t size) { return program.bind(&size, nullptr, numbers.data()); };
  EXPECT_TRUE(bind(1));
  EXPECT_TRUE(bind(13));
  EXPECT_EQ(bind(14).error().message, "launch step 1 begins between bytes 0 and 416 of buffer 3, which has 384");
  EXPECT_EQ(bind(0).error().message, "launch step 1 begins between bytes -32 and 0 of buffer 3, which has 384");
  EXPECT_EQ(bind(INT64_MAX / 4).error().status, Status::Unimplemented);
}

TEST(Program, BuffersOfOpenArgumentsHaveAnEnd) {
  ProgramModel model = longLoop(5);
  model.artifact.sizeCount = 1;
  model.artifact.arguments[0].bytes = 0; // only executions know it
  model.artifact.steps[0].buffers[0].byteOffset.terms = {{rowBytes, {0, symbolOfSize(0)}}};
  Entry entry;
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows)};
  ASSERT_TRUE(entry.take(model.artifact, functions));
  ASSERT_TRUE(program.take(model.artifact, entry.steps()));
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
  Entry entry;
  Program program;
  void *functions[] = {reinterpret_cast<void *>(mixRows)};
  ASSERT_TRUE(entry.take(model.artifact, functions));
  ASSERT_TRUE(program.take(model.artifact, entry.steps()));
  EXPECT_TRUE(program.hasOpenRegions());
  std::vector<int64_t> numbers(program.numberCount());
  for (int64_t size : {int64_t(-1), INT64_MAX / rowBytes + 1, INT64_MAX})
    EXPECT_FALSE(program.bind(&size, nullptr, numbers.data())) << size;
}

/// Rows of 16 go to a region from the last to the first, and from there to dst; how many, dst says before.
class ProgramExecution : public testing::Test {
protected:
  static constexpr int64_t rowSize = 64;
  void SetUp() override {
    problem = verify(*PrimitiveDesc::parse(lineOf(64)), Target());
    ASSERT_TRUE(problem);
    artifact = makeTestArtifact(*problem, Target());
    problem->arguments[1].desc.dims[0] = runtimeDim;
    const uint32_t given = symbolOfSize(0), greatest = symbolOfSize(1);
    artifact.sizeCount = 1;
    artifact.derivedSizes = {{1, Polynomial(), Polynomial(), 16}};
    artifact.derivedSizes[0].limit.terms = {{1, {given}}};
    artifact.derivedSizes[0].count.terms = {{1, {given}}};
    Polynomial rows, forward, backward, bytes;
    rows.terms = {{1, {greatest}}};
    forward.terms = {{rowSize, {0}}};
    backward.terms = {{-rowSize, {}}, {-rowSize, {0}}, {rowSize, {greatest}}};
    bytes.terms = {{rowSize, {greatest}}};
    artifact.regions = {bytes};
    artifact.loops = {{rows, 0, 1}, {rows, 1, 2}};
    artifact.steps = {{0, 16, 1000, {}, {{0, forward}, {2, backward}}}, {0, 16, 1000, {}, {{2, backward}, {1, forward}}}};
  }
  Result<std::shared_ptr<const Executable>> load() {
    return CpuExecutable::load(artifact, artifact.serialize(), *problem, Linker::Loader, nullptr);
  }
  Result<VerifiedProblem> problem = Error{Status::Internal, ""};
  Artifact artifact;
};

TEST_F(ProgramExecution, DerivesSizesAndPlacesRegions) {
  ASSERT_TRUE(Artifact::parse(artifact.serialize())) << Artifact::parse(artifact.serialize()).error().message;
  auto executable = load();
  ASSERT_TRUE(executable) << executable.error().message;
  for (int threads : {1, 3})
    for (int64_t given : {64, 5, 0})
      for (int32_t greatest : {0, 1, 4, 64, 1000, -3}) {
        std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, 0.0f);
        std::memcpy(&dst[given > 2 ? 2 * 16 : 0], &greatest, sizeof(greatest)); // an element of one in 16, the others are 0
        void *buffers[] = {src.data(), dst.data()};
        TestPool pool(threads, false);
        ExecutionContext context = on(pool);
        context.sizes = &given;
        Result<void> done = runSteps(**executable, buffers, context);
        ASSERT_TRUE(done) << done.error().message;
        const int64_t rows = std::clamp<int64_t>(greatest, 0, given);
        for (int64_t i = 0; i < 64 * 16; ++i) {
          const auto factor = static_cast<float>(2 + i % 4);
          if (i >= rows * 16 && i != 2 * 16 && i != 0)
            ASSERT_EQ(dst[static_cast<size_t>(i)], 0.0f) << i;
          else if (i < rows * 16)
            ASSERT_EQ(dst[static_cast<size_t>(i)], factor * factor) << i;
        }
      }
}

TEST_F(ProgramExecution, RegionsOfKnownSizeArePartOfTheScratch) {
  artifact.regions[0] = 5 * rowSize - 7;
  artifact.sharedScratchBytes = 100;
  auto executable = load();
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_FALSE((*executable)->program().hasOpenRegions());
  EXPECT_EQ((*executable)->scratch().shared, 128 + 5 * rowSize);
  EXPECT_EQ((*executable)->entry().shared_bytes, 100u);
  std::vector<char> scratchpad(static_cast<size_t>(scratchpadBytes((*executable)->scratch(), 2)) + 64, 0x5a);
  std::vector<float> src(64 * 16, 1.0f), dst(64 * 16, 0.0f);
  const int32_t greatest = 4;
  std::memcpy(dst.data(), &greatest, sizeof(greatest));
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
  for (int64_t rows : {1, 7, 1000, 200000}) { // the last beyond the scratch that a thread keeps
    const memory::desc desc({rows, 16}, memory::data_type::f32, memory::format_tag::ab);
    std::vector<float> src(static_cast<size_t>(rows) * 16), dst(src.size(), -7.0f);
    for (size_t i = 0; i < src.size(); ++i)
      src[i] = static_cast<float>(i % 1000);
    kernel.execute(order, {{QUERN_ARG_SRC, memory(desc, device, src.data())}, {QUERN_ARG_DST, memory(desc, device, dst.data())}});
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
  EXPECT_NE(std::string(quern_get_last_error_message()).find("the scratchpad depends on sizes that only executions know"),
            std::string::npos)
      << quern_get_last_error_message();
  EXPECT_EQ(quern_primitive_desc_query_md(desc.get(), quern_query_scratchpad_md, 0), nullptr);
}

TEST(ProgramApi, TheMemoryConsumptionOfOpenSizesIsRefused) {
  engine device(engine::kind::cpu, 0);
  primitive_desc desc(device, lineOfOpenRows());
  EXPECT_EQ(statusOf([&] { desc.memory_consumption(); }), quern_unimplemented);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("sizes that only executions know; its bytes"), std::string::npos)
      << quern_get_last_error_message();
}

TEST(ProgramApi, TheEntryShowsTheProgram) {
  engine device(engine::kind::cpu, 0);
  primitive kernel(primitive_desc(device, lineOfOpenRows()));
  const quern_entry_t entry = kernel.entry();
  EXPECT_EQ(entry.abi_version, 4u);
  EXPECT_EQ(entry.size_count, 2);
  ASSERT_EQ(entry.loop_count, 2);
  EXPECT_EQ(entry.loops[1].first_step, 1);
  EXPECT_EQ(entry.loops[1].end_step, 2);
  ASSERT_EQ(entry.loops[1].trips.term_count, 1);
  EXPECT_EQ(entry.loops[1].trips.terms[0].symbols[0], static_cast<uint32_t>(QUERN_ENTRY_MAX_DEPTH));
  ASSERT_EQ(entry.region_count, 1);
  EXPECT_EQ(entry.regions[0].terms[0].coefficient, 64);
  EXPECT_EQ(entry.steps[0].buffers[1].argument, entry.argument_count) << "the region";
  EXPECT_EQ(entry.steps[0].buffers[1].more_bytes.terms[0].symbols[0], 0u);
  EXPECT_EQ(entry.derived_size_count, 0);
  EXPECT_EQ(entry.shared_bytes, 0u);
}

} // namespace quern
