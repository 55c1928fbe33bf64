//===- Memory.h - Loaded kernels by key, with LRU eviction ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Limited by entries and by bytes. A hit compares the whole key. If several threads request a missing key, the first
// one makes the value outside the lock, and the others wait for its result.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_MEMORY_H
#define QUERN_RUNTIME_CACHE_MEMORY_H

#include "Desc/Key.h"
#include "Support/Forks.h"
#include "Support/Lookup.h"

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
  /// Returns a value for the cache, a miss or an error. After a miss, each waiting thread calls its own maker.
  using Maker = std::function<Lookup<Value>()>;
  static constexpr size_t defaultEntries = 1024;
  static constexpr size_t defaultBytes = 256u << 20;

  struct Found {
    Value value;
    bool wasMade = false; ///< true if this call made it; false for a hit, or if another thread made it
  };
  /// Returns the value of `key`, which `make` creates if it is missing. A failure is returned to all threads that
  /// waited for it, and is not cached; after a miss of `make`, each of these threads runs its own maker. With a
  /// capacity of 0 entries every call makes the value, except for concurrent calls. Thread-safe; `make` runs without a
  /// lock and must not request `key`.
  Lookup<Found> getOrMake(const KernelKey &key, const Maker &make);

  /// Removes all entries for which `isDropped` returns true; these do not count as evictions.
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
  struct Flight; ///< a value in progress; the child of a fork ignores those of its parent
  class Landing;
  struct Hash {
    size_t operator()(const KernelKey *key) const { return key->digest.low; }
  };
  struct Equal {
    bool operator()(const KernelKey *a, const KernelKey *b) const { return *a == *b; }
  };
  // The keys are members of an entry or a flight, which outlives its element of the map.
  template <typename T> using ByKey = std::unordered_map<const KernelKey *, T, Hash, Equal>;

  Lookup<Value> find(const KernelKey &key, std::unique_lock<ForkMutex> &lock);
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
