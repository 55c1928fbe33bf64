//===- Promotion.h - Replacing the kernel of a family ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A primitive that starts with the kernel of its family gets its specialized kernel later, once. The first kernel stays
// alive as long as the primitive, because executions may use it. The primitive and the background thread share the
// Promotion, so the primitive may be destroyed at any time.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PROMOTION_H
#define QUERN_RUNTIME_CORE_PROMOTION_H

#include "Core/Problem.h"
#include "Support/Forks.h"

#include <atomic>

namespace quern {

/// The specialized kernel that a primitive gets later. Thread-safe.
class Promotion {
public:
  explicit Promotion(std::shared_ptr<const Problem> problem) : ofProblem(std::move(problem)) {}

  const std::shared_ptr<const Problem> &problem() const { return ofProblem; }
  /// Returns the kernel to run from now on; null: the kernel of the family.
  const Executable *promoted() const { return running.load(std::memory_order_acquire); }
  /// Keeps a kernel as long as this object lives, unless it already has one. Returns the kept kernel.
  const Executable *keep(std::shared_ptr<const Executable> kernel) {
    std::lock_guard lock(mutex);
    if (!kept)
      kept = std::move(kernel);
    return kept.get();
  }
  /// Sets the kernel that later executions run.
  void promote(std::shared_ptr<const Executable> kernel) {
    running.store(keep(std::move(kernel)), std::memory_order_release);
  }
  /// Records that the specialized kernel could not be created.
  void fail(const Error &error) {
    std::lock_guard lock(mutex);
    failure = error;
  }
  /// Returns the reason why the specialized kernel could not be created; success if fail() was not called.
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

#endif // QUERN_RUNTIME_CORE_PROMOTION_H
