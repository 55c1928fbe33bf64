//===- CopyContestant.cpp - Cost of only moving the bytes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses memcpy for the number of bytes that a problem reads and writes; each thread copies its share on a separate CPU.
// Helper threads spin, so the hand-over costs well under a microsecond; the process is stopped while others are
// measured.
//
//===----------------------------------------------------------------------===//
#include "Child.h"
#include "Contestant.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace quern::bench {

namespace {

class Copy : public Contestant {
public:
  explicit Copy(int threads) : threads(threads) {
    std::vector<int> cpus = availableCpus();
    auto cpuOf = [&](int thread) { return std::vector<int>{cpus[static_cast<size_t>(thread) % cpus.size()]}; };
    for (int thread = 1; thread < threads; ++thread)
      helpers.emplace_back([this, thread, cpu = cpuOf(thread)] { help(thread, cpu); });
    pinned = std::make_unique<Affinity>(cpuOf(0));
  }
  ~Copy() override {
    isOver = true;
    started.fetch_add(1, std::memory_order_release);
    for (std::thread &helper : helpers)
      helper.join();
  }

  std::string prepare(const BenchProblem &problem) override {
    bytes = problem.trafficBytes() / 2;
    src = makeBuffer(bytes);
    dst = makeBuffer(bytes);
    std::memset(src.data(), 1, static_cast<size_t>(bytes));
    return "memcpy";
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call) {
      finished.store(0, std::memory_order_relaxed);
      started.fetch_add(1, std::memory_order_release);
      copyShare(0);
      while (finished.load(std::memory_order_acquire) < threads - 1) {}
    }
  }

private:
  void help(int thread, const std::vector<int> &cpu) {
    Affinity pinnedHelper(cpu);
    for (int64_t call = 1;; ++call) {
      while (started.load(std::memory_order_acquire) < call) {}
      if (isOver)
        return;
      copyShare(thread);
      finished.fetch_add(1, std::memory_order_acq_rel);
    }
  }

  void copyShare(int thread) {
    int64_t begin = bytes * thread / threads, end = bytes * (thread + 1) / threads;
    std::memcpy(dst.data() + begin, src.data() + begin, static_cast<size_t>(end - begin));
    asm volatile("" : : "r"(dst.data()) : "memory"); // keeps the copy
  }

  int threads;
  int64_t bytes = 0;
  GuardedBuffer src = makeBuffer(0), dst = makeBuffer(0);
  std::atomic<int64_t> started = 0, finished = 0;
  std::atomic<bool> isOver = false;
  std::vector<std::thread> helpers;
  std::unique_ptr<Affinity> pinned;
};

} // namespace

std::unique_ptr<Contestant> createCopy(int threads) { return std::make_unique<Copy>(threads); }

} // namespace quern::bench
