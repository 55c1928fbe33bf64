//===- NegativeCache.h - Entries that no server has -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_NEGATIVECACHE_H
#define QUERN_RUNTIME_REMOTE_NEGATIVECACHE_H

#include "Remote/Keys.h"

#include <mutex>
#include <unordered_map>

namespace quern::remote {

/// Names of entries that every server has reported missing, remembered for a minute. Thread-safe; bounded.
class NegativeCache {
public:
  static constexpr int64_t rememberedNs = 60'000'000'000;
  static constexpr size_t most = 4096;

  bool has(const EntryName &name, int64_t now) {
    std::lock_guard guard(mutex);
    const auto found = until.find(name);
    if (found == until.end())
      return false;
    if (found->second > now)
      return true;
    until.erase(found);
    return false;
  }
  void add(const EntryName &name, int64_t now) {
    std::lock_guard guard(mutex);
    if (until.size() >= most)
      std::erase_if(until, [&](const auto &one) { return one.second <= now; });
    if (until.size() < most)
      until[name] = now + rememberedNs;
  }
  void remove(const EntryName &name) {
    std::lock_guard guard(mutex);
    until.erase(name);
  }
  // Called around a fork.
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  std::mutex mutex; ///< guards the member below
  std::unordered_map<EntryName, int64_t> until;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_NEGATIVECACHE_H
