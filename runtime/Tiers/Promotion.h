//===- Promotion.h - A primitive's way to its own kernel ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A primitive that began with the kernel of its family gets its own, specialised one once: what an execution has begun
// with stays until the primitive goes. Shared with whoever makes that kernel (Specialiser.h), so that the primitive may
// go at any time.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_TIERS_PROMOTION_H
#define QUERN_RUNTIME_TIERS_PROMOTION_H

#include "Core/Problem.h"
#include "Support/Forks.h"

#include <atomic>

namespace quern {

/// Thread-safe.
class Promotion {
public:
  explicit Promotion(std::shared_ptr<const Problem> problem) : ofProblem(std::move(problem)) {}

  const std::shared_ptr<const Problem> &problem() const { return ofProblem; }
  /// The kernel to run from now on; null: that of the family.
  const Executable *promoted() const { return running.load(std::memory_order_acquire); }
  /// Keeps the kernel for as long as this lives, and gives the one that is kept: the first.
  const Executable *keep(std::shared_ptr<const Executable> kernel) {
    std::lock_guard lock(mutex);
    if (!kept)
      kept = std::move(kernel);
    return kept.get();
  }
  /// Executions that begin from now on run it.
  void promote(std::shared_ptr<const Executable> kernel) {
    running.store(keep(std::move(kernel)), std::memory_order_release);
  }
  /// The specialised kernel could not be made.
  void fail(const Error &error) {
    std::lock_guard lock(mutex);
    failure = error;
  }
  /// Why; success if it did not fail.
  Error failed() const {
    std::lock_guard lock(mutex);
    return failure;
  }

private:
  const std::shared_ptr<const Problem> ofProblem;
  std::atomic<const Executable *> running{nullptr};
  mutable ForkMutex mutex; ///< guards the members below
  std::shared_ptr<const Executable> kept;
  Error failure;
};

} // namespace quern

#endif // QUERN_RUNTIME_TIERS_PROMOTION_H
