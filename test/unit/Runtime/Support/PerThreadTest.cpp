//===- PerThreadTest.cpp - Objects that outlive thread_local ones ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that a per-thread object can be used in destructors that run at the end of the thread.
//
//===----------------------------------------------------------------------===//
#include "Support/PerThread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace quern {
namespace {

std::atomic<int> alive{0}, created{0};

struct Counted {
  Counted() { ++alive, ++created; }
  ~Counted() { --alive; }
  std::string text;
};

PerThread<Counted> kept;

struct UsesItLate {
  ~UsesItLate() { kept.get()->text = "a text that is too long for the place in the string"; }
};

TEST(PerThread, EachThreadHasItsOwn) {
  kept.get()->text = "here";
  std::thread([] { EXPECT_EQ(kept.get()->text, ""); }).join();
  EXPECT_EQ(kept.get()->text, "here");
}

TEST(PerThread, IsThereInDestructorsOfThreadLocalObjects) {
  kept.get();
  const int before = alive;
  std::thread([] {
    thread_local UsesItLate first;
    (void)&first;
    kept.get()->text = "first";
  }).join();
  EXPECT_EQ(alive, before);
}

TEST(PerThread, IsCreatedAgainInDestructorsOfKeys) {
  static pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void *) { kept.get()->text = "again"; }), 0);
  kept.get();
  const int before = alive, made = created;
  std::thread([] {
    pthread_setspecific(key, &key);
    kept.get()->text = "first";
  }).join();
  EXPECT_EQ(alive, before);
  EXPECT_GE(created, made + 1);
  pthread_key_delete(key);
}

} // namespace
} // namespace quern
