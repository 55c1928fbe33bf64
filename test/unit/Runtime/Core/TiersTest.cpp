//===- TiersTest.cpp - Primitives that start with a family kernel ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests promotion while primitives are executed, destroyed and created again, while the process forks or exits, and
// with compilers that fail, crash and hang in the background.
//
//===----------------------------------------------------------------------===//
#include "Cache/Pack.h"
#include "Core/Specializer.h"
#include "Family/Family.h"

#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <atomic>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

namespace quern {
namespace {

namespace fs = std::filesystem;

/// Returns a pack with the only family of the fake compiler.
std::string familyPack() {
  const Target &host = Target::host();
  const std::optional<Family> family = familyOf(*verify(*PrimitiveDesc::parse(test::lineOf(3)), host), host);
  const std::string artifact = test::makeTestArtifact(family->problem, host).serialize();
  return *writePack({artifact});
}

size_t threadCount() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

/// Records the events of specialization.
struct Heard {
  Heard() { quern_set_listener(note, this, quern_event_specialize); }
  ~Heard() { quern_set_listener(note, this, 0); }
  static void note(void *context, const quern_event_t *event) {
    auto *self = static_cast<Heard *>(context);
    const char *line = "";
    quern_primitive_desc_get_text(event->primitive_desc, &line);
    std::lock_guard lock(self->mutex);
    self->count += 1;
    self->lastLine = line;
    self->lastStatus = event->status;
    self->lastMessage = event->message;
  }
  /// Waits for `wanted` events, at most 10 s.
  void waitFor(size_t wanted) {
    for (int i = 0; i < 2000 && size() < wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GE(size(), wanted);
  }
  size_t size() {
    std::lock_guard lock(mutex);
    return count;
  }
  std::mutex mutex;
  size_t count = 0;
  std::string lastLine, lastMessage;
  quern_status_t lastStatus = quern_success;
};

quern_status_t waitSpecialized(const primitive &kernel) { return quern_primitive_wait_specialized(kernel.get()); }

class TiersTest : public testing::Test {
protected:
  TiersTest() : pack(familyPack()) { add_pack_data(pack.data(), pack.size()); }
  ~TiersTest() override { (void)quern_remove_pack_data(pack.data()); }
  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
  std::string pack;
};

TEST_F(TiersTest, StartWithTheFamilyAndSwitchToTheSpecializedKernel) {
  const std::string line = test::lineOf(21);
  Heard heard;
  test::Run run(device, line);
  EXPECT_EQ(run.kernel.info().origin, quern_origin_family);
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  ASSERT_EQ(waitSpecialized(run.kernel), quern_success);
  EXPECT_EQ(run.kernel.info().is_family, 0);
  EXPECT_EQ(run.kernel.info().origin, quern_origin_family) << "the origin is that of the first kernel";
  run.dst.assign(run.dst.size(), -7.0f);
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  heard.waitFor(1);
  EXPECT_EQ(heard.lastLine, run.desc.text());
  EXPECT_EQ(heard.lastStatus, quern_success);
  const test::Run again(device, line);
  EXPECT_EQ(again.kernel.info().origin, quern_origin_memory);
  EXPECT_EQ(again.kernel.info().is_family, 0);
  test::ScopedCaches::emptyMemory();
  EXPECT_EQ(test::Run(device, line).kernel.info().origin, quern_origin_disk);
}

TEST_F(TiersTest, TiersFollowTheEnvironment) {
  {
    const test::ScopedEnvironment tiers("QUERN_TIERS", "specialized");
    EXPECT_EQ(test::Run(device, test::lineOf(22)).kernel.info().origin, quern_origin_compiled);
  }
  const test::ScopedEnvironment tiers("QUERN_TIERS", "family");
  test::Run run(device, test::lineOf(22));
  EXPECT_EQ(run.kernel.info().origin, quern_origin_family) << "although the specialized kernel is in the memory cache";
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(waitSpecialized(run.kernel), quern_not_required);
  EXPECT_EQ(run.kernel.info().is_family, 1);
  EXPECT_EQ(test::Run(device, test::lineOf(22, "log")).kernel.info().origin, quern_origin_compiled)
      << "no pack contains its family";
  EXPECT_EQ(test::Run(device, test::lineOf(22) + " attr.deterministic=true").kernel.info().origin, quern_origin_family);
  const test::ScopedEnvironment wrong("QUERN_TIERS", "all");
  EXPECT_EQ(test::statusOf([&] { test::Run(device, test::lineOf(23)); }), quern_invalid_arguments);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("both, specialized or family"), std::string::npos);
}

TEST_F(TiersTest, APrimitiveMayChooseForItself) {
  const memory::desc md({26, 16}, memory::data_type::f32, "ab");
  const auto create = [&](quern_tiers_t asked, bool deterministic = false) {
    primitive_attr attr;
    attr.set_tiers(static_cast<tiers>(asked));
    attr.set_deterministic(deterministic);
    const softmax_forward::primitive_desc desc(device, prop_kind::forward_inference, algorithm::softmax_accurate, md,
                                               md, 1, attr);
    EXPECT_EQ(desc.get_primitive_attr().get_tiers(), static_cast<tiers>(asked));
    return primitive(desc);
  };
  const test::ScopedEnvironment other("QUERN_TIERS", "specialized");
  const primitive family = create(quern_tiers_family);
  EXPECT_EQ(family.info().origin, quern_origin_family);
  EXPECT_EQ(waitSpecialized(family), quern_not_required);
  const primitive both = create(quern_tiers_both);
  EXPECT_EQ(both.info().origin, quern_origin_family);
  EXPECT_EQ(waitSpecialized(both), quern_success);
  EXPECT_EQ(create(quern_tiers_specialized).info().origin, quern_origin_memory);
  const test::ScopedEnvironment none("QUERN_TIERS", "family");
  EXPECT_EQ(create(quern_tiers_default).info().origin, quern_origin_family);
  EXPECT_EQ(create(quern_tiers_both).info().origin, quern_origin_memory)
      << "the tiers of earlier primitives with the same key must not matter";
  const primitive deterministic = create(quern_tiers_both, /*deterministic=*/true);
  EXPECT_EQ(deterministic.info().origin, quern_origin_memory) << "the specialized kernel with the same key is used";
  EXPECT_EQ(deterministic.info().is_family, 0);
  EXPECT_EQ(create(quern_tiers_family, /*deterministic=*/true).info().origin, quern_origin_family);
}

TEST_F(TiersTest, DeterministicPrimitivesKeepTheirKernel) {
  const test::Run run(device, test::lineOf(24) + " attr.deterministic=true");
  EXPECT_EQ(run.kernel.info().origin, quern_origin_compiled);
  EXPECT_EQ(waitSpecialized(run.kernel), quern_success);
}

TEST_F(TiersTest, BlobsAndFunctionsUseTheSpecializedKernel) {
  const test::ScopedEnvironment tiers("QUERN_TIERS", "family");
  test::Run run(device, test::lineOf(25));
  const std::vector<uint8_t> blob = run.kernel.get_cache_blob();
  const primitive loaded(run.desc, blob);
  EXPECT_EQ(loaded.info().origin, quern_origin_blob);
  int sizes = -1;
  EXPECT_EQ(quern_primitive_get_launch_counts(run.kernel.get(), nullptr, &sizes, nullptr), quern_success);
  EXPECT_EQ(sizes, 0);
  EXPECT_EQ(run.kernel.info().is_family, 1);
}

TEST_F(TiersTest, HundredsAreSpecializedDuringExecution) {
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int64_t part = 0; part < 4; ++part)
    threads.emplace_back([&, part] {
      stream threadStream(device);
      for (int64_t rows = 100 + part; rows < 300; rows += 2) { // each on two threads at a time
        test::Run run(device, test::lineOf(rows));
        for (int i = 0; i < 3; ++i) {
          run.dst.assign(run.dst.size(), -7.0f);
          run.execute(threadStream);
          wrong += run.wrong();
        }
        if (rows % 3 == 0 && waitSpecialized(run.kernel) != quern_success)
          wrong += 1;
        if (rows % 5 == 0) {
          run.execute(threadStream);
          wrong += run.wrong();
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(TiersTest, MoreJobsThanTheQueueCanHold) {
  const test::ScopedEnvironment slow("QUERN_FAKE", "slow");
  std::vector<std::unique_ptr<test::Run>> runs;
  for (int64_t rows = 400; rows < 400 + 3 * static_cast<int64_t>(Specializer::maxJobs); ++rows)
    runs.push_back(std::make_unique<test::Run>(device, test::lineOf(rows)));
  const test::ScopedEnvironment fast("QUERN_FAKE", "");
  EXPECT_EQ(waitSpecialized(runs.front()->kernel), quern_success)
      << "dropped from the queue, so the caller compiles it";
  EXPECT_EQ(waitSpecialized(runs.back()->kernel), quern_success);
  for (const auto &run : runs) {
    run->execute(order);
    EXPECT_EQ(run->wrong(), 0u);
  }
}

TEST_F(TiersTest, TheThreadEndsWhenIdle) {
  std::thread([] {}).join();                                   // the first thread makes a sanitizer start its own
  std::this_thread::sleep_for(std::chrono::milliseconds(400)); // until the thread of earlier tests ends
  const size_t before = threadCount();
  test::Run run(device, test::lineOf(601));
  ASSERT_EQ(waitSpecialized(run.kernel), quern_success);
  for (int i = 0; i < 400 && threadCount() > before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(threadCount(), before);
  test::Run other(device, test::lineOf(602));
  EXPECT_EQ(waitSpecialized(other.kernel), quern_success) << "the thread must start again";
}

TEST_F(TiersTest, AFailureLeavesTheFamily) {
  const test::ScopedEnvironment refuses("QUERN_FAKE", "refuse");
  Heard heard;
  test::Run run(device, test::lineOf(603));
  heard.waitFor(1);
  EXPECT_EQ(heard.lastStatus, quern_unimplemented);
  EXPECT_NE(heard.lastMessage.find("told to refuse"), std::string::npos);
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(run.kernel.info().is_family, 1);
  EXPECT_EQ(waitSpecialized(run.kernel), quern_unimplemented);
}

TEST_F(TiersTest, ACrashInTheBackgroundLeavesTheFamily) {
  const test::ScopedEnvironment separate("QUERN_COMPILER", "process"), crashes("QUERN_FAKE", "crash");
  Heard heard;
  test::Run run(device, test::lineOf(604));
  heard.waitFor(1);
  EXPECT_EQ(heard.lastStatus, quern_internal_error);
  EXPECT_NE(heard.lastMessage.find("the compiler's process"), std::string::npos) << heard.lastMessage;
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(run.kernel.info().is_family, 1);
}

/// The time limit of a compiler process also applies in the background, and an event reports it.
TEST_F(TiersTest, AHangInTheBackgroundLeavesTheFamily) {
  const test::ScopedEnvironment separate("QUERN_COMPILER", "process"), hangs("QUERN_FAKE", "hang");
  const test::ScopedEnvironment seconds("QUERN_COMPILER_SECONDS", "1");
  Heard heard;
  test::Run run(device, test::lineOf(609));
  heard.waitFor(1);
  EXPECT_EQ(heard.lastStatus, quern_internal_error);
  EXPECT_NE(heard.lastMessage.find("longer than 1 s"), std::string::npos) << heard.lastMessage;
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  EXPECT_EQ(run.kernel.info().is_family, 1);
}

/// Forks; the child's exit status is the result of `body`.
template <typename Body> int inChild(Body body) {
  const pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(TiersTest, ForksWhileItCompiles) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  const test::ScopedEnvironment slow("QUERN_FAKE", "slow");
  test::Run run(device, test::lineOf(605));
  for (int i = 0; i < 3; ++i) {
    const int status = inChild([&] {
      run.execute(order);
      if (run.wrong())
        return 1;
      if (waitSpecialized(run.kernel) != quern_success || run.kernel.info().is_family)
        return 2;
      test::Run childRun(device, test::lineOf(606));
      childRun.execute(order);
      if (childRun.wrong() || waitSpecialized(childRun.kernel) != quern_success)
        return 3;
      return childRun.kernel.info().is_family ? 4 : 0;
    });
    EXPECT_EQ(status, 0) << i;
  }
  EXPECT_EQ(waitSpecialized(run.kernel), quern_success);
}

TEST_F(TiersTest, HundredsAreSpecializedDuringForks) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  std::vector<std::unique_ptr<test::Run>> runs;
  for (int64_t rows = 700; rows < 900; ++rows) {
    test::Run &run = *runs.emplace_back(std::make_unique<test::Run>(device, test::lineOf(rows)));
    run.execute(order);
    EXPECT_EQ(run.wrong(), 0u);
    if (rows % 3 == 0)
      runs.erase(runs.begin(), runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2));
    if (rows % 8)
      continue;
    const int status = inChild([&] {
      for (const auto &each : runs) {
        each->dst.assign(each->dst.size(), -7.0f);
        each->execute(order);
        if (each->wrong())
          return 1;
      }
      test::Run childRun(device, test::lineOf(rows + 1000));
      childRun.execute(order);
      return childRun.wrong() || waitSpecialized(childRun.kernel) != quern_success ? 2 : 0;
    });
    EXPECT_EQ(status, 0) << rows;
  }
  for (const auto &run : runs)
    EXPECT_EQ(waitSpecialized(run->kernel), quern_success);
}

TEST_F(TiersTest, AFullDiskLosesOnlyTheFile) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  const int status = inChild([&] {
    signal(SIGXFSZ, SIG_IGN); // then writes fail
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_FSIZE, &none))
      return 1;
    test::Run run(device, test::lineOf(608));
    if (waitSpecialized(run.kernel) != quern_success)
      return 2;
    run.execute(order);
    return run.wrong() ? 3 : run.kernel.info().is_family ? 4 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(TiersTest, ForksDoNotWaitForAHangingCompiler) {
  const test::ScopedEnvironment separate("QUERN_COMPILER", "process"), hangs("QUERN_FAKE", "hang");
  const test::ScopedEnvironment seconds("QUERN_COMPILER_SECONDS", "6");
  test::Run run(device, test::lineOf(607));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(inChild([] { return 0; }), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  run.execute(order);
  EXPECT_EQ(run.wrong(), 0u);
  const test::ScopedEnvironment works("QUERN_FAKE", "");
  EXPECT_EQ(waitSpecialized(run.kernel), quern_success); // after the background thread has failed
}

/// Programs that exit while the thread compiles exit as they would without it.
TEST_F(TiersTest, ProcessesEndWhileItCompiles) {
  const std::string path = directory.path + "/family.qpk";
  std::ofstream(path, std::ios::binary) << pack;
  const test::ScopedEnvironment listed("QUERN_PACKS", path);
  struct Case {
    const char *compiler, *mode;
  };
  for (const Case &one : {Case{"library", "slow"}, Case{"library", ""}, Case{"process", "slow"},
                          Case{"process", "hang"}, Case{"process", "crash"}}) {
    const test::ScopedEnvironment compiler("QUERN_COMPILER", one.compiler), mode("QUERN_FAKE", one.mode);
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      int status = -1;
      const std::string output = test::finishChild(test::startChild(test::lineOf(31 + i), "off"), &status);
      EXPECT_EQ(output.substr(0, 16), "origin=6 wrong=0") << one.compiler << ' ' << one.mode << ": " << output;
      EXPECT_EQ(status, 0) << one.compiler << ' ' << one.mode << ": " << output;
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    }
  }
}

} // namespace
} // namespace quern
