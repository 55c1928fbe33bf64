//===- RaceTest.cpp - Compiling beside the caller -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Race.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

/// A compilation that ends when it is let.
struct Held {
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

TEST(Race, GivesWhatTheCompilerMade) {
  Held held;
  const std::shared_ptr<Race> race = Race::begin(held.work());
  ASSERT_TRUE(race);
  EXPECT_FALSE(race->isOver());
  held.mayEnd = true;
  Result<Compiled> made = race->wait();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->artifact, "artifact");
  EXPECT_TRUE(race->isOver());
  const std::shared_ptr<Race> failing = Race::begin([]() -> Result<Compiled> { throw std::bad_alloc(); });
  EXPECT_EQ(failing->wait().error().status, Status::OutOfMemory);
}

TEST(Race, AThreadEndsAfterWhatItHasBegun) {
  Held held;
  std::atomic<bool> isEnding{false};
  std::thread caller([&] {
    EXPECT_TRUE(Race::begin(held.work()));
    isEnding = true;
  });
  while (!isEnding)
    std::this_thread::yield();
  held.mayEnd = true;
  caller.join();
  EXPECT_TRUE(held.isDone);
}

/// A fork waits for what compiles in this process, and the child has no thread to wait for.
TEST(Race, ForksWaitForTheCompiler) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer does not follow forks of threads";
#endif
  Held held;
  ASSERT_TRUE(Race::begin(held.work()));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held.mayEnd = true;
  });
  const pid_t child = fork();
  if (child == 0) {
    const bool isWhole = held.isDone;
    const std::shared_ptr<Race> own = Race::begin([]() -> Result<Compiled> { return Compiled{}; });
    _exit(isWhole && own && own->wait() ? 0 : 1);
  }
  later.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace quern
