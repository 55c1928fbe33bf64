//===- Forks.cpp - Sections that forks wait for ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Support/Forks.h"

#include <pthread.h>

namespace quern {
namespace {

constinit std::atomic<int> inside{0}; ///< number of threads in sections
constinit std::atomic<int> closed{0}; ///< 1 while a fork is under way
constinit std::mutex oneAtATime;      ///< held by the thread that forks
constinit std::atomic<uint64_t> forkCount{0};
constinit thread_local int depth = 0; ///< nesting of this thread's sections

constexpr size_t maxHandlers = 16;
constinit std::atomic<void (*)()> handlers[maxHandlers]{};

void count(int change) noexcept {
  inside.fetch_add(change);
  if (change < 0 && closed.load())
    inside.notify_all();
}

/// The forking thread counts as inside a section until the fork is over, so its fork handlers may call this library.
void close() noexcept {
  oneAtATime.lock();
  closed.store(1);
  const int expected = depth > 0 ? 1 : 0;
  for (int now = inside.load(); now != expected; now = inside.load())
    inside.wait(now);
  ++depth;
}

void reopen() noexcept {
  --depth;
  closed.store(0);
  closed.notify_all();
  oneAtATime.unlock();
}

void reopenInChild() noexcept {
  inside.store(depth > 1 ? 1 : 0); // threads that were about to enter do not exist in the child
  forkCount.fetch_add(1);
  for (const std::atomic<void (*)()> &handler : handlers)
    if (void (*call)() = handler.load())
      call();
  reopen();
}

} // namespace

void ForkSection::enter() noexcept {
  if (depth++ > 0)
    return;
  for (count(1); closed.load(); count(1)) {
    count(-1);
    closed.wait(1);
  }
}

void ForkSection::leave() noexcept {
  if (--depth == 0)
    count(-1);
}

void forks::install() noexcept { (void)pthread_atfork(close, reopen, reopenInChild); }

void forks::onChild(void (*handler)()) noexcept {
  for (std::atomic<void (*)()> &place : handlers) {
    void (*none)() = nullptr;
    if (place.compare_exchange_strong(none, handler))
      return;
  }
}

uint64_t forks::generation() noexcept { return forkCount.load(std::memory_order_relaxed); }

} // namespace quern
