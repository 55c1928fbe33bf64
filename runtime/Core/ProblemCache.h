//===- ProblemCache.h - Verified problems by request ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs that create a primitive for each use request the same descriptor repeatedly. Problems are immutable, so the
// first one is reused: a request only has to be written as bytes and looked up. Bounded, with FIFO eviction; failures
// are not cached.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_PROBLEMCACHE_H
#define QUERN_RUNTIME_CORE_PROBLEMCACHE_H

#include "Desc/Key.h"
#include "Support/Forks.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace quern {

class Device;
class Problem;

class ProblemCache {
public:
  using Value = std::shared_ptr<const Problem>;
  static constexpr size_t maxEntries = 256;

  /// The instance of the process.
  static ProblemCache &process();

  /// Returns the problem that was stored for this key, or null. The functions below are also thread-safe.
  Value find(const KernelKey &request);
  void add(const KernelKey &request, const Value &problem);
  /// Sets the capacity, at most maxEntries. 0: no problem is kept.
  void setCapacity(size_t entries);

  /// Removes the problems of engines on this device.
  void forget(const Device &device);

private:
  struct Hash {
    size_t operator()(const KernelKey &request) const { return request.digest.low; }
  };
  void dropBeyond(size_t entries, std::deque<Value> &dropped);

  ForkMutex mutex;
  std::unordered_map<KernelKey, Value, Hash> problems;
  std::deque<const KernelKey *> order; ///< keys of `problems`, oldest first
  size_t capacity = maxEntries;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_PROBLEMCACHE_H
