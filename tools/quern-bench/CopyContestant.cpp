//===- CopyContestant.cpp - What moving the bytes alone costs -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// memcpy of as many bytes as a problem reads and writes, each thread its share. Helpers spin while a measurement runs, so that the
// hand-over costs well under a microsecond, and sleep between measurements.
//
//===----------------------------------------------------------------------===//
#include "Contestant.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace quern::bench {

namespace {

class Copy : public Contestant {
public:
  explicit Copy(int threads) : threads(threads) {}

  void prepare(const Problem &problem) override {
    bytes = problem.trafficBytes() / 2;
    src = makeBuffer(bytes);
    dst = makeBuffer(bytes);
    std::memset(src.get(), 1, static_cast<size_t>(bytes));
  }

  void run(int64_t calls) override {
    std::atomic<int64_t> started = 0, finished = 0;
    auto help = [&](int thread) {
      for (int64_t call = 1; call <= calls; ++call) {
        while (started.load(std::memory_order_acquire) < call) {}
        copyShare(thread);
        finished.fetch_add(1, std::memory_order_acq_rel);
      }
    };
    std::vector<std::thread> helpers;
    for (int thread = 1; thread < threads; ++thread)
      helpers.emplace_back(help, thread);
    for (int64_t call = 1; call <= calls; ++call) {
      started.store(call, std::memory_order_release);
      copyShare(0);
      while (finished.load(std::memory_order_acquire) < call * (threads - 1)) {}
    }
    for (std::thread &helper : helpers)
      helper.join();
  }

private:
  void copyShare(int thread) {
    int64_t begin = bytes * thread / threads, end = bytes * (thread + 1) / threads;
    std::memcpy(dst.get() + begin, src.get() + begin, static_cast<size_t>(end - begin));
    asm volatile("" : : "r"(dst.get()) : "memory"); // the copy is for its time
  }

  int threads;
  int64_t bytes = 0;
  Buffer src, dst;
};

} // namespace

std::unique_ptr<Contestant> createCopy(int threads) { return std::make_unique<Copy>(threads); }

} // namespace quern::bench
