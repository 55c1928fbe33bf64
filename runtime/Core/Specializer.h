//===- Specializer.h - Compiling kernels in the background ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One thread of low priority compiles the specialized kernels of primitives that run family kernels. It ends when it
// has been idle for a moment. The problem with the most requests comes first, among equals the newest. If there are too
// many problems, the one with the fewest requests is dropped, and its primitives keep their kernels unless wait() is
// called.
//
// The end of the process waits for the present compilation, or aborts it if it runs in another process. The child of a
// fork has neither the thread nor its jobs.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_SPECIALIZER_H
#define QUERN_RUNTIME_CORE_SPECIALIZER_H

#include "Core/Promotion.h"
#include "Support/Forks.h"
#include "Support/IdleThread.h"

#include <list>

namespace quern {

/// Thread-safe.
class Specializer {
public:
  static constexpr size_t maxJobs = 64;

  /// Returns the instance of the process, which is created on first use.
  static Specializer &process();

  /// Requests the specialized kernel. Without memory or threads for it, the primitive keeps its kernel.
  void request(const std::shared_ptr<Promotion> &promotion);
  /// Blocks until the specialized kernel exists; compiles it on this thread unless the background thread is compiling
  /// it. Fails like acquireKernel().
  Result<void> wait(const std::shared_ptr<Promotion> &promotion);

private:
  struct SpecializeJob {
    std::shared_ptr<const Problem> problem;
    std::vector<std::weak_ptr<Promotion>> promotions; ///< their primitives may be gone
    uint64_t requests = 0, lastRequest = 0;
  };
  using Jobs = std::list<SpecializeJob>;
  using Thread = BasicIdleThread<ForkMutex>;

  Specializer() = default;
  static bool isLessWanted(const SpecializeJob &a, const SpecializeJob &b);
  Jobs::iterator find(const KernelKey &key);
  void ensureThread();
  void run();
  void doJob(Thread::Lock &lock);
  static Lookup<AcquiredKernel> compile(const SpecializeJob &job, const std::atomic<bool> *isCut);
  static void settle(const SpecializeJob &job, const Lookup<AcquiredKernel> &made, int64_t ns);
  void stop();
  void forgetInFork();

  Thread thread; ///< its mutex guards the members below
  Jobs jobs;
  const KernelKey *inHand = nullptr;    ///< key of the job that the thread compiles
  std::atomic<bool> wasCutShort{false}; ///< true if the present compilation was aborted
  bool stopsAtExit = false;             ///< true if stop() is registered
  bool hasBegun = false;                ///< true if the thread has ever run
  uint64_t requests = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_SPECIALIZER_H
