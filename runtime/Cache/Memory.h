//===- Memory.h - Loaded kernels by key, least recently used out first ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bounded by entries and by bytes. A hit compares the whole key. Threads that ask for the same missing key at once make
// it once: the first makes it outside the lock, the others wait for its result.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_MEMORY_H
#define QUERN_RUNTIME_CACHE_MEMORY_H

#include "Desc/Key.h"
#include "Support/Forks.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace quern {

class Executable;

class MemoryCache {
public:
  using Value = std::shared_ptr<const Executable>;
  using Maker = std::function<Result<Value>()>;
  static constexpr size_t defaultEntries = 1024;
  static constexpr size_t defaultBytes = 256u << 20;

  struct Found {
    Value value;
    bool wasMade = false; ///< by this call; else it was there or another thread made it meanwhile
  };
  /// The value of `key`, from `make` if it is not there. A failure goes to everyone who waited for it and is not kept.
  /// With a capacity of 0 entries every call makes, apart from those at the same time. Thread-safe; `make` runs without
  /// a lock and must not ask for `key`.
  Result<Found> getOrMake(const KernelKey &key, const Maker &make);

  /// Takes out whatever `isDropped`; that is no eviction.
  void drop(const std::function<bool(const Executable &)> &isDropped);

  size_t capacity() const;
  size_t capacityBytes() const;
  void setCapacity(size_t entries);
  void setCapacityBytes(size_t bytes);

  struct Statistics {
    uint64_t hits = 0, misses = 0, evictions = 0, entries = 0, bytes = 0;
  };
  Statistics statistics() const;

private:
  struct Entry {
    KernelKey key;
    Value value;
    size_t bytes;
  };
  struct Flight; ///< a value being made; in the child of a fork there is none of the parent's
  class Landing;
  struct Hash {
    size_t operator()(const KernelKey *key) const { return key->digest.low; }
  };
  struct Equal {
    bool operator()(const KernelKey *a, const KernelKey *b) const { return *a == *b; }
  };
  // Keys point into the entry or the flight, which outlive their place in the map.
  template <typename T> using ByKey = std::unordered_map<const KernelKey *, T, Hash, Equal>;

  void insert(const KernelKey &key, const Value &value) noexcept;
  void evictBeyondLimits(std::list<Entry> &evicted);
  void takeOut(std::list<Entry>::iterator entry, std::list<Entry> &out);

  mutable ForkMutex mutex;
  std::list<Entry> entries; ///< most recently used first
  ByKey<std::list<Entry>::iterator> index;
  ByKey<std::shared_ptr<Flight>> flights;
  size_t maxEntries = defaultEntries, maxBytes = defaultBytes;
  Statistics stats;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_MEMORY_H
