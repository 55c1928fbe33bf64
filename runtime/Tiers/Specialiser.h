//===- Specialiser.h - Compiling behind the caller's back -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One thread of low priority makes the specialised kernels of primitives that run those of their families. It is there
// while there is something to do and for a moment after. What was asked for most often comes first, of equals the
// newest; beyond a number of problems the least wanted are forgotten, and their primitives stay as they are until
// somebody asks again.
//
// The end of the process waits for the compilation in hand, or cuts it short if another process does it. The child of a
// fork has neither the thread nor its jobs.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_TIERS_SPECIALISER_H
#define QUERN_RUNTIME_TIERS_SPECIALISER_H

#include "Support/Forks.h"
#include "Support/IdleThread.h"
#include "Tiers/Promotion.h"

#include <list>

namespace quern {

/// Thread-safe.
class Specialiser {
public:
  static constexpr size_t mostJobs = 64;

  /// The process's. Made at its first use.
  static Specialiser &process();

  /// Wants the specialised kernel. Without memory or threads for it the primitive stays as it is.
  void request(const std::shared_ptr<Promotion> &promotion);
  /// Until it is there: what nobody works on is done here. As Kernels::acquire() fails.
  Result<void> wait(const std::shared_ptr<Promotion> &promotion);

private:
  struct Job {
    std::shared_ptr<const Problem> problem;
    std::vector<std::weak_ptr<Promotion>> promotions; ///< whose primitives may be gone
    uint64_t requests = 0, lastRequest = 0;
  };
  using Jobs = std::list<Job>;
  using Thread = BasicIdleThread<ForkMutex>;

  Specialiser() = default;
  static bool isLessWanted(const Job &a, const Job &b);
  Jobs::iterator find(const KernelKey &key);
  void ensureThread();
  void run();
  void doJob(Thread::Lock &lock);
  static Result<AcquiredKernel> compile(const Job &job, const std::atomic<bool> *isCut);
  static void settle(const Job &job, const Result<AcquiredKernel> &made, int64_t ns);
  void stop();
  void forgetInFork();

  Thread thread; ///< its mutex guards the members below
  Jobs jobs;
  const KernelKey *inHand = nullptr;    ///< of the job that the thread works on
  std::atomic<bool> wasCutShort{false}; ///< what the thread has in hand
  bool stopsAtExit = false;             ///< whether stop() is registered
  bool hasBegun = false;                ///< whether there has been a thread
  uint64_t requests = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_TIERS_SPECIALISER_H
