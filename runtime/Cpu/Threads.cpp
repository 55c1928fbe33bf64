//===- Threads.cpp - One parallel-for for every kernel --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oneTBB arena is made by the first parallel execution, so that a process that never needs threads starts none.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Threads.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace quern {
namespace {

int processorsOfThisProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::clamp(CPU_COUNT(&set), 1, maxThreadCount);
  return 1;
}

int initialThreadCount() {
  const char *text = std::getenv("QUERN_NUM_THREADS");
  int count = 0;
  if (text && std::from_chars(text, text + std::strlen(text), count).ec == std::errc() && count >= 1)
    return std::min(count, maxThreadCount);
  return processorsOfThisProcess();
}

std::atomic<int> &threadCount() {
  static std::atomic<int> count{initialThreadCount()};
  return count;
}

/// The arena of the current thread count. Shared, so that a change of the count leaves running executions theirs.
class Arena {
public:
  static Arena &process() {
    static Arena arena;
    return arena;
  }
  /// None in the child of a fork, once the parent had one: oneTBB's workers are not there, the locks that they held at
  /// that moment never become free, and oneTBB cannot be begun again.
  std::shared_ptr<tbb::task_arena> current();

private:
  Arena();
  void forgetInFork();

  std::mutex mutex; ///< guards what follows, and forks
  std::shared_ptr<tbb::task_arena> arena;
  int arenaThreads = 0;
  std::shared_ptr<tbb::task_arena> *lost = nullptr; ///< the parent's, never destroyed, which takes oneTBB's locks
};

Arena::Arena() {
  pthread_atfork([] { process().mutex.lock(); }, [] { process().mutex.unlock(); }, [] { process().forgetInFork(); });
}

void Arena::forgetInFork() {
  if (arena)
    lost = new std::shared_ptr<tbb::task_arena>(std::move(arena));
  mutex.unlock();
}

std::shared_ptr<tbb::task_arena> Arena::current() {
  std::lock_guard lock(mutex);
  if (lost)
    return nullptr;
  // TBB has no more workers than this, and says so on standard error if an arena asks for them.
  const size_t allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  const int wanted = static_cast<int>(std::min<size_t>(static_cast<size_t>(defaultThreadCount()), allowed));
  if (arenaThreads != wanted) {
    arena = std::make_shared<tbb::task_arena>(wanted);
    arenaThreads = wanted;
  }
  return arena;
}

} // namespace

int defaultThreadCount() { return threadCount().load(std::memory_order_relaxed); }

Result<void> setDefaultThreadCount(int count) {
  if (count < 1 || count > maxThreadCount)
    return invalidArguments("the number of threads is ", count, "; it must be 1 to ", maxThreadCount);
  threadCount().store(count, std::memory_order_relaxed);
  return {};
}

void runOnDefaultThreads(int chunks, ChunkFunction function, void *context) {
  if (const std::shared_ptr<tbb::task_arena> arena = Arena::process().current())
    arena->execute(
        [&] { tbb::parallel_for(0, chunks, [&](int chunk) { function(context, chunk); }, tbb::static_partitioner()); });
  else
    for (int chunk = 0; chunk < chunks; ++chunk)
      function(context, chunk);
}

void runOnPool(threadpool_interop::threadpool_iface &pool, int chunks, ChunkFunction function, void *context) {
  pool.parallel_for(chunks, [=](int chunk, int) { function(context, chunk); });
  if (pool.get_flags() & threadpool_interop::threadpool_iface::ASYNCHRONOUS)
    pool.wait();
}

} // namespace quern
