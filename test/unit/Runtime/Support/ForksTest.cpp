//===- ForksTest.cpp - Sections that a fork waits for ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests for which sections a fork waits, and for which it does not.
//
//===----------------------------------------------------------------------===//
#include "Support/Forks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace quern {
namespace {

using std::chrono::milliseconds;

/// Forks and runs `body` in the child; returns the child's exit status, which is the result of `body`.
template <typename Body> int inChild(const Body &body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

class ForksTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    static std::once_flag once;
    std::call_once(once, forks::install);
  }
  void SetUp() override {
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  }
};

TEST_F(ForksTest, WaitForSectionsOfOtherThreads) {
  std::atomic<bool> isIn{false}, isOut{false};
  std::thread other([&] {
    const ForkSection section;
    const ForkSection nested;
    isIn = true;
    std::this_thread::sleep_for(milliseconds(50));
    isOut = true;
  });
  while (!isIn)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] { return isOut ? 0 : 1; }), 0);
  other.join();
}

TEST_F(ForksTest, DoNotWaitForTheirOwnThread) {
  const ForkSection section;
  EXPECT_EQ(inChild([] {
              ForkMutex mutex;
              const std::lock_guard lock(mutex);
              return 0;
            }),
            0);
}

TEST_F(ForksTest, DoNotWaitForThreadsThatWait) {
  ForkMutex mutex;
  std::condition_variable_any changed;
  bool mayEnd = false;
  std::atomic<bool> waits{false};
  std::thread other([&] {
    std::unique_lock lock(mutex);
    waits = true;
    changed.wait(lock, [&] { return mayEnd; });
  });
  while (!waits)
    std::this_thread::yield();
  EXPECT_EQ(inChild([&] {
              const std::lock_guard lock(mutex);
              return 0;
            }),
            0);
  {
    const std::lock_guard lock(mutex);
    mayEnd = true;
  }
  changed.notify_all();
  other.join();
}

TEST_F(ForksTest, ChildrenFindEveryMutexFree) {
  ForkMutex first, second;
  std::atomic<bool> isOver{false};
  const auto work = [&](int) {
    while (!isOver) {
      const std::lock_guard outer(first);
      const std::lock_guard inner(second);
    }
  };
  std::thread a(work, 0), b(work, 1);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(inChild([&] {
                const std::lock_guard outer(first);
                const std::lock_guard inner(second);
                std::thread childThread([&] { const ForkSection section; });
                childThread.join();
                return 0;
              }),
              0)
        << i;
  isOver = true;
  a.join();
  b.join();
}

TEST_F(ForksTest, GenerationsAreCounted) {
  const uint64_t here = forks::generation();
  EXPECT_EQ(inChild([&] { return static_cast<int>(forks::generation() - here); }), 1);
  EXPECT_EQ(forks::generation(), here);
}

TEST_F(ForksTest, ImmortalObjectsAreCreatedOnce) {
  static std::atomic<int> created{0};
  const auto object = []() -> int & { return immortal([] { return new int(++created); }); };
  std::thread other([&] { (void)object(); });
  EXPECT_EQ(object(), 1);
  other.join();
  EXPECT_EQ(&object(), &object());
  EXPECT_EQ(created, 1);
}

} // namespace
} // namespace quern
