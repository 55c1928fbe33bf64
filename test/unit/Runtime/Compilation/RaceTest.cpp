//===- RaceTest.cpp - Compiling concurrently with the caller --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Race.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

/// A compilation that ends when `mayEnd` is set.
struct BlockedCompilation {
  std::atomic<bool> mayEnd{false}, isDone{false};
  std::function<Result<Compiled>()> work() {
    return [this]() -> Result<Compiled> {
      while (!mayEnd)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      isDone = true;
      return Compiled{"artifact", "", 7};
    };
  }
};

TEST(Race, ReturnsTheCompiledArtifact) {
  BlockedCompilation blocked;
  const std::shared_ptr<Race> race = Race::begin(blocked.work());
  ASSERT_TRUE(race);
  EXPECT_FALSE(race->isOver());
  blocked.mayEnd = true;
  Result<Compiled> made = race->wait();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->artifact, "artifact");
  EXPECT_TRUE(race->isOver());
  const std::shared_ptr<Race> failing = Race::begin([]() -> Result<Compiled> { throw std::bad_alloc(); });
  EXPECT_EQ(failing->wait().error().status, Status::OutOfMemory);
}

TEST(Race, AThreadMayEndBeforeItsCompilation) {
  BlockedCompilation blocked;
  std::shared_ptr<Race> race;
  std::thread([&] { race = Race::begin(blocked.work()); }).join();
  ASSERT_TRUE(race);
  EXPECT_FALSE(race->isOver());
  blocked.mayEnd = true;
  EXPECT_TRUE(race->wait());
}

TEST(Race, EveryExceptionIsAnError) {
  const auto thrown = [](auto exception) {
    return Race::begin([=]() -> Result<Compiled> { throw exception; })->wait().error();
  };
  EXPECT_EQ(thrown(std::runtime_error("why")).status, Status::Internal);
  EXPECT_EQ(thrown(std::runtime_error("why")).message, "why");
  EXPECT_EQ(thrown(7).status, Status::Internal);
}

/// A child does not have the parent's thread and starts its own.
TEST(Race, ChildrenOfAForkBeginTheirOwn) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  BlockedCompilation blocked;
  const std::shared_ptr<Race> race = Race::begin(blocked.work());
  ASSERT_TRUE(race);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    const std::shared_ptr<Race> childRace = Race::begin([]() -> Result<Compiled> { return Compiled{}; });
    _exit(childRace && childRace->wait() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  blocked.mayEnd = true;
  EXPECT_TRUE(race->wait());
}

} // namespace
} // namespace quern
