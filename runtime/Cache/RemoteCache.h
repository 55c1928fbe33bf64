//===- RemoteCache.h - The remote cache of a process -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Off unless QUERN_REMOTE_CACHE or a call names servers. It is asked after all that is on the machine, and given what
// the compiler made; docs/fleet.md.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_REMOTECACHE_H
#define QUERN_RUNTIME_CACHE_REMOTECACHE_H

#include "Artifact/Artifact.h"
#include "Cache/RemoteLibrary.h"
#include "Desc/Key.h"
#include "Support/Forks.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace quern {

/// Thread-safe. What is not configured costs one load.
class RemoteCache {
public:
  /// Where the library is, and who is told of servers that are given up, and of an environment that is refused.
  RemoteCache(std::function<Result<std::string>()> library, Remote::Report report)
      : library(std::move(library)), report(report) {}

  /// From now on these servers; none if the configuration names none. On failure nothing changes.
  Result<void> configure(const RemoteConfig &config);

  struct Hit {
    std::string bytes;
    Artifact artifact;
    quern_remote_origin origin;
  };
  /// Whether there are servers; and if so, the most that is waited for another who compiles the same.
  std::optional<uint32_t> patience();
  /// An artifact of exactly that key and target, of this build, with that descriptor.
  std::optional<Hit> lookup(const KernelKey &key, const std::string &target, const std::string &descriptor,
                            const quern_remote_waiter &waiter);
  /// The same, but nobody who makes it is waited for.
  std::optional<Hit> lookup(const KernelKey &key, const std::string &target, const std::string &descriptor);
  /// Whether a kernel that a server had, and the disk kept, may still run: by the keys of this configuration, and
  /// always without servers, which is a configuration without a statement about keys.
  bool believes(const quern_remote_origin &origin);
  /// Later, on another thread, if there is room.
  void store(const KernelKey &key, const std::string &target, const std::string &descriptor, std::string_view artifact);

  /// Zeros where there is none.
  quern_remote_counters counters();
  /// Until all is stored, or given up, or the time is over.
  void flush(uint32_t milliseconds);

private:
  Remote *get();
  Result<void> open(const RemoteConfig &config);
  void readEnvironment();

  const std::function<Result<std::string>()> library;
  const Remote::Report report;
  std::atomic<bool> environmentRead{false};
  std::atomic<Remote *> current{nullptr};
  std::atomic<bool> isRefused{false}; ///< servers are configured and there is no remote cache all the same
  std::atomic<uint32_t> patienceMs{0};
  ForkMutex mutex;                          ///< guards the member below; held while a library is opened
  std::vector<std::unique_ptr<Remote>> all; // others may be in one that is no longer current
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_REMOTECACHE_H
