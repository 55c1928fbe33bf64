//===- Threads.cpp - Parallel execution of kernels ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first parallel execution creates the oneTBB arena, so a process without parallel executions starts no threads. If
// oneTBB runs out of memory or threads, the calling threads run this and all later executions alone.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Threads.h"

#include "Support/Forks.h"
#include "Support/StackArray.h"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <utility>

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
  const char *text = secure_getenv("QUERN_NUM_THREADS");
  int count = 0;
  if (text && std::from_chars(text, text + std::strlen(text), count).ec == std::errc() && count >= 1)
    return std::min(count, maxThreadCount);
  return processorsOfThisProcess();
}

std::atomic<int> &threadCount() {
  return immortal([] { return new std::atomic<int>(initialThreadCount()); });
}

/// True once oneTBB's objects may have been destroyed at the end of the process.
constinit std::atomic<bool> hasEnded{false};

/// oneTBB was loaded before this library, so this handler runs before the destructors of oneTBB.
[[gnu::constructor]] void noticeTheEnd() {
  (void)std::atexit([] { hasEnded.store(true, std::memory_order_relaxed); });
}

/// oneTBB stores its state of a thread as the value of a pthread key. The destructor of the key takes locks, which in
/// the child of a fork may be held by a thread of the parent. Therefore the child's thread clears the value.
class KeysOfTbb {
public:
  /// Finds the keys: those whose values are set when this new thread calls `use`, which enters oneTBB.
  template <typename Use> static void find(const Use &use) {
    std::bitset<PTHREAD_KEYS_MAX> before;
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key)
      before[key] = pthread_getspecific(key) != nullptr;
    use();
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key)
      keys[key] = !before[key] && pthread_getspecific(key) != nullptr;
  }
  static void forgetInFork() {
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; ++key)
      if (keys[key])
        (void)pthread_setspecific(key, nullptr);
  }

private:
  static inline constinit std::bitset<PTHREAD_KEYS_MAX> keys{};
};

/// The arena for the current number of threads. Shared, so that running executions keep theirs if the number changes.
class Arena {
public:
  static Arena &process() {
    return immortal([] {
      forks::onChild(KeysOfTbb::forgetInFork);
      return new Arena;
    });
  }
  /// Returns the arena for the present number of threads. Returns null at the end of the process, after giveUp(), and
  /// in the child of a fork whose parent used oneTBB. In such a child, oneTBB's workers do not exist, their locks are
  /// never released, and oneTBB cannot be initialized again.
  std::shared_ptr<tbb::task_arena> current();
  /// Prevents further use of oneTBB. A failure may have left its initialization pending, and the next call would wait
  /// for it forever.
  void giveUp();

private:
  void renew(int count);

  ForkMutex mutex; ///< guards the members below
  std::shared_ptr<tbb::task_arena> arena;
  int arenaThreads = 0;
  uint64_t generation = forks::generation(); ///< fork generation of the process that owns the arena
  bool isLost = false; ///< true if the arena is leaked, because destroying it would take oneTBB's locks
};

void Arena::giveUp() {
  std::lock_guard lock(mutex);
  isLost = true;
}

/// Requires the mutex. Creates another arena if the number of threads has changed.
void Arena::renew(int count) {
  // oneTBB has at most this number of workers, and prints a warning if an arena requests more.
  const size_t allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  const int wanted = static_cast<int>(std::min<size_t>(static_cast<size_t>(count), allowed));
  if (arenaThreads == wanted)
    return;
  arena = std::make_shared<tbb::task_arena>(wanted);
  arena->execute([] { tbb::parallel_for(0, 2, [](int) {}, tbb::static_partitioner()); }); // initializes oneTBB
  arenaThreads = wanted;
}

std::shared_ptr<tbb::task_arena> Arena::current() {
  if (hasEnded.load(std::memory_order_relaxed))
    return nullptr;
  std::lock_guard lock(mutex);
  if (std::exchange(generation, forks::generation()) != generation)
    isLost = isLost || arena;
  const auto tryToRenew = [this, count = defaultThreadCount()] {
    try {
      renew(count);
    } catch (...) { // no memory or no thread
      isLost = true;
    }
  };
  if (!arena && !isLost) {
    try { // oneTBB's initialization needs more stack than an execution
      std::thread([&] { KeysOfTbb::find(tryToRenew); }).join();
    } catch (...) { // without a thread, oneTBB is useless
      return nullptr;
    }
  } else if (!isLost) {
    tryToRenew();
  }
  return isLost ? nullptr : arena;
}

/// The chunks of an execution. Each runs once, on the first thread that claims it.
class Chunks {
public:
  Chunks(int count, ChunkFunction function, void *context)
      : count(count), unfinished(count), function(function), context(context), isTaken(static_cast<size_t>(count)) {
    std::fill_n(isTaken.data(), count, uint8_t(0));
  }
  void run(int chunk) {
    if (std::atomic_ref(isTaken[static_cast<size_t>(chunk)]).exchange(1, std::memory_order_relaxed))
      return;
    function(context, chunk);
    unfinished.fetch_sub(1, std::memory_order_acq_rel);
  }
  /// Runs the unclaimed chunks, and waits for the others.
  void finish() {
    for (int chunk = 0; chunk < count; ++chunk)
      run(chunk);
    while (unfinished.load(std::memory_order_acquire) > 0)
      sched_yield();
  }

private:
  const int count;
  std::atomic<int> unfinished;
  const ChunkFunction function;
  void *const context;
  StackArray<uint8_t, 64> isTaken;
};

} // namespace

int defaultThreadCount() { return threadCount().load(std::memory_order_relaxed); }

Result<void> setDefaultThreadCount(int count) {
  if (count < 1 || count > maxThreadCount)
    return invalidArguments("the number of threads is ", count, "; it must be 1 to ", maxThreadCount);
  threadCount().store(count, std::memory_order_relaxed);
  return {};
}

void runOnDefaultThreads(int count, ChunkFunction function, void *context) {
  Chunks chunks(count, function, context);
  if (const std::shared_ptr<tbb::task_arena> arena = Arena::process().current()) {
    try {
      arena->execute(
          [&] { tbb::parallel_for(0, count, [&](int chunk) { chunks.run(chunk); }, tbb::static_partitioner()); });
    } catch (...) { // oneTBB ran out of memory or threads
      Arena::process().giveUp();
    }
  }
  chunks.finish();
}

void runOnPool(threadpool_interop::threadpool_iface &pool, int chunks, ChunkFunction function, void *context) {
  pool.parallel_for(chunks, [=](int chunk, int) { function(context, chunk); });
  if (pool.get_flags() & threadpool_interop::threadpool_iface::ASYNCHRONOUS)
    pool.wait();
}

} // namespace quern
