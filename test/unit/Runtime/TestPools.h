//===- TestPools.h - Thread pools for tests -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RUNTIME_TESTPOOLS_H
#define QUERN_TEST_RUNTIME_TESTPOOLS_H

#include "quern/quern_threadpool_iface.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace quern::test {

/// A pool of std::threads that are started for each call.
class TestPool : public threadpool_interop::threadpool_iface {
public:
  TestPool(int count, bool isAsynchronous) : count(count), isAsynchronous(isAsynchronous) {}
  ~TestPool() override { join(); }
  int get_num_threads() const override { return count; }
  bool get_in_parallel() const override { return inParallel; }
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    ++calls;
    largest = std::max(largest, n);
    for (int i = 0; i < n; ++i)
      threads.emplace_back([fn, i, n] { fn(i, n); });
    if (!isAsynchronous)
      join();
  }
  uint64_t get_flags() const override { return isAsynchronous ? ASYNCHRONOUS : 0; }
  void wait() override { join(); }

  int calls = 0, largest = 0;
  bool inParallel = false;

private:
  void join() {
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
  }
  int count;
  bool isAsynchronous;
  std::vector<std::thread> threads;
};

/// Runs all chunks on the calling thread, in reverse order if `isReversed`.
class LonelyPool : public threadpool_interop::threadpool_iface {
public:
  LonelyPool(int count, bool isReversed) : count(count), isReversed(isReversed) {}
  int get_num_threads() const override { return count; }
  bool get_in_parallel() const override { return false; }
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    for (int i = 0; i < n; ++i)
      fn(isReversed ? n - 1 - i : i, n);
  }
  uint64_t get_flags() const override { return 0; }
  void wait() override {}

private:
  int count;
  bool isReversed;
};

/// Each thread arrives `delay` later than the one before.
class LatePool : public TestPool {
public:
  LatePool(int count, std::chrono::microseconds delay) : TestPool(count, false), delay(delay) {}
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    TestPool::parallel_for(n, [this, fn](int i, int all) {
      std::this_thread::sleep_for(delay * i);
      fn(i, all);
    });
  }

private:
  std::chrono::microseconds delay;
};

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_TESTPOOLS_H
