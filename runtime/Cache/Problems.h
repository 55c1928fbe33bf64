//===- Problems.h - Verified problems by what was asked for ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A program that makes a primitive where it needs it asks for the same descriptor again and again. Problems are
// immutable, so that the one made first can answer: what remains is to write the request as bytes and to find it.
// Bounded, oldest out first; failures are not kept.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_PROBLEMS_H
#define QUERN_RUNTIME_CACHE_PROBLEMS_H

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
  static constexpr size_t mostEntries = 256;

  /// The process's.
  static ProblemCache &process();

  /// Null if there is none. Thread-safe, as all that follows.
  Value find(const KernelKey &request);
  void add(const KernelKey &request, const Value &problem);
  /// At most that many, and at most mostEntries. 0: nothing is kept.
  void setCapacity(size_t entries);

  /// Takes out whatever is of an engine on this device.
  void forget(const Device &device);

private:
  struct Hash {
    size_t operator()(const KernelKey &request) const { return request.digest.low; }
  };
  void dropBeyond(size_t entries, std::deque<Value> &dropped);

  ForkMutex mutex;
  std::unordered_map<KernelKey, Value, Hash> problems;
  std::deque<const KernelKey *> order; ///< into `problems`, oldest first
  size_t capacity = mostEntries;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_PROBLEMS_H
