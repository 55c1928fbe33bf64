//===- ProblemCache.cpp - Verified problems by request --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Evicted problems are destroyed after the lock is released, because the last reference to a kernel unmaps it.
//
//===----------------------------------------------------------------------===//
#include "Core/ProblemCache.h"

#include "Core/Problem.h"

#include <algorithm>

namespace quern {

ProblemCache &ProblemCache::process() {
  return immortal([] { return new ProblemCache(); });
}

ProblemCache::Value ProblemCache::find(const KernelKey &request) {
  std::lock_guard lock(mutex);
  const auto found = problems.find(request);
  return found == problems.end() ? nullptr : found->second;
}

void ProblemCache::add(const KernelKey &request, const Value &problem) {
  std::deque<Value> dropped;
  std::lock_guard lock(mutex);
  if (capacity == 0)
    return;
  dropBeyond(capacity - 1, dropped);
  if (const auto [at, isNew] = problems.emplace(request, problem); isNew)
    order.push_back(&at->first);
}

void ProblemCache::setCapacity(size_t entries) {
  std::deque<Value> dropped;
  std::lock_guard lock(mutex);
  capacity = std::min(entries, maxEntries);
  dropBeyond(capacity, dropped);
}

void ProblemCache::forget(const Device &device) {
  std::deque<Value> dropped;
  std::lock_guard lock(mutex);
  std::erase_if(order, [&](const KernelKey *request) {
    const auto found = problems.find(*request);
    const Problem &problem = *found->second;
    const bool isOfDevice = problem.engine()->device.get() == &device || problem.srcEngine()->device.get() == &device ||
                            problem.dstEngine()->device.get() == &device;
    if (isOfDevice) {
      dropped.push_back(std::move(found->second));
      problems.erase(found);
    }
    return isOfDevice;
  });
}

void ProblemCache::dropBeyond(size_t entries, std::deque<Value> &dropped) {
  while (order.size() > entries) {
    const auto oldest = problems.find(*order.front());
    dropped.push_back(std::move(oldest->second));
    problems.erase(oldest);
    order.pop_front();
  }
}

} // namespace quern
