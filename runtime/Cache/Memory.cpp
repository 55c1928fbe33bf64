//===- Memory.cpp - Loaded kernels by key, with LRU eviction --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A hit holds the mutex for a hash lookup and a splice. Evicted kernels are unmapped after its release.
//
//===----------------------------------------------------------------------===//
#include "Cache/Memory.h"

#include "Engine/Executable.h"

#include <optional>

namespace quern {

struct MemoryCache::Flight {
  explicit Flight(const KernelKey &key) : key(key) {}
  KernelKey key;
  const uint64_t generation = forks::generation(); ///< fork generation of the process that makes the value
  std::condition_variable_any landed;
  std::optional<Lookup<Value>> result; ///< guarded by the cache's mutex
};

/// Ends a flight even if the thread that makes the value is unwound. Allocates no memory.
class MemoryCache::Landing {
public:
  Landing(MemoryCache &cache, std::unique_lock<ForkMutex> &lock, std::shared_ptr<Flight> flight)
      : cache(cache), lock(lock), flight(std::move(flight)) {}
  ~Landing() {
    if (!lock.owns_lock())
      lock.lock();
    if (!flight->result) // a short message is stored inside the string object
      flight->result.emplace(Error{Status::OutOfMemory, "out of memory"});
    cache.flights.erase(&flight->key);
    flight->landed.notify_all();
  }
  Landing(const Landing &) = delete;
  Landing &operator=(const Landing &) = delete;

private:
  MemoryCache &cache;
  std::unique_lock<ForkMutex> &lock;
  std::shared_ptr<Flight> flight;
};

/// Returns the value of a key, or waits while another thread makes it. Returns a miss if this thread is to make it.
/// Requires the lock.
Lookup<MemoryCache::Value> MemoryCache::find(const KernelKey &key, std::unique_lock<ForkMutex> &lock) {
  for (;;) {
    if (auto found = index.find(&key); found != index.end()) {
      ++stats.hits;
      entries.splice(entries.begin(), entries, found->second);
      return found->second->value;
    }
    const auto running = flights.find(&key);
    if (running == flights.end())
      return {};
    if (running->second->generation != forks::generation()) { // its thread does not exist in this process
      flights.erase(running);
      return {};
    }
    const std::shared_ptr<Flight> flight = running->second;
    flight->landed.wait(lock, [&] { return flight->result.has_value(); });
    stats.hits += *flight->result ? 1 : 0;
    if (*flight->result || flight->result->isError())
      return *flight->result;
  }
}

Lookup<MemoryCache::Found> MemoryCache::getOrMake(const KernelKey &key, const Maker &make) {
  std::list<Entry> evicted; // destroyed after the lock is released
  std::unique_lock lock(mutex);
  Lookup<Value> known = find(key, lock);
  if (known)
    return Found{*std::move(known), false};
  if (known.isError())
    return known.takeError();
  ++stats.misses;
  const auto flight = std::make_shared<Flight>(key);
  flights.emplace(&flight->key, flight);
  const Landing landing(*this, lock, flight);
  lock.unlock();
  Lookup<Value> made = make();
  lock.lock();
  flight->result.emplace(made);
  if (!made)
    return made.takeError();
  insert(flight->key, *made);
  evictBeyondLimits(evicted);
  return Found{*std::move(made), true};
}

/// Keeps the value if there is enough memory.
void MemoryCache::insert(const KernelKey &key, const Value &value) noexcept {
  if (maxEntries == 0)
    return;
  const size_t bytes = value->memoryBytes() + key.bytes.size() + sizeof(Entry);
  if (bytes > maxBytes)
    return;
  try {
    std::list<Entry> added;
    added.push_front({key, value, bytes});
    index.emplace(&added.front().key, added.begin());
    entries.splice(entries.begin(), added);
    stats.bytes += bytes;
  } catch (const std::bad_alloc &) { // the caller has the value
  }
}

void MemoryCache::evictBeyondLimits(std::list<Entry> &evicted) {
  while (!entries.empty() && (entries.size() > maxEntries || stats.bytes > maxBytes)) {
    ++stats.evictions;
    takeOut(std::prev(entries.end()), evicted);
  }
}

void MemoryCache::takeOut(std::list<Entry>::iterator entry, std::list<Entry> &out) {
  index.erase(&entry->key);
  stats.bytes -= entry->bytes;
  out.splice(out.begin(), entries, entry);
}

void MemoryCache::drop(const std::function<bool(const Executable &)> &isDropped) {
  std::list<Entry> dropped; // destroyed after the lock is released
  std::lock_guard lock(mutex);
  for (auto next = entries.begin(); next != entries.end();)
    if (const auto entry = next++; isDropped(*entry->value))
      takeOut(entry, dropped);
}

size_t MemoryCache::capacity() const {
  std::lock_guard lock(mutex);
  return maxEntries;
}

size_t MemoryCache::capacityBytes() const {
  std::lock_guard lock(mutex);
  return maxBytes;
}

void MemoryCache::setCapacity(size_t entries) {
  std::list<Entry> evicted;
  std::lock_guard lock(mutex);
  maxEntries = entries;
  evictBeyondLimits(evicted);
}

void MemoryCache::setCapacityBytes(size_t bytes) {
  std::list<Entry> evicted;
  std::lock_guard lock(mutex);
  maxBytes = bytes;
  evictBeyondLimits(evicted);
}

MemoryCache::Statistics MemoryCache::statistics() const {
  std::lock_guard lock(mutex);
  Statistics now = stats;
  now.entries = entries.size();
  return now;
}

} // namespace quern
