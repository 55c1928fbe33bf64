//===- RemoteCache.h - The remote cache of a process -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Off unless QUERN_REMOTE_CACHE or a call configures servers. It is queried after all local caches, and receives the
// kernels that this process compiles; see docs/fleet.md.
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

/// Thread-safe. If no servers are configured, a call costs one load.
class RemoteCache {
public:
  /// `library` returns the path of libquern-remote; `report` is called for suspended servers and a rejected
  /// environment.
  RemoteCache(std::function<Result<std::string>()> library, Remote::Report report)
      : library(std::move(library)), report(report) {}

  /// Sets the servers; none if the configuration has none. On failure nothing changes.
  Result<void> configure(const RemoteConfig &config);

  struct Hit {
    std::string bytes;
    Artifact artifact;
    quern_remote_origin origin;
  };
  /// Returns the maximum wait for others that compile the same kernel, in ms; nullopt if there are no servers.
  std::optional<uint32_t> patience();
  /// Does not wait for others that compile the kernel.
  static constexpr quern_remote_waiter noWait{quern_remote_never, [](void *) { return 0; }, [](void *) { return 0; },
                                              nullptr};
  /// Returns an artifact of exactly this key, target and descriptor, and of this build.
  std::optional<Hit> lookup(const KernelKey &key, const std::string &target, const std::string &descriptor,
                            const quern_remote_waiter &waiter = noWait);
  /// Returns true if a kernel that came from a server may still be loaded from disk, according to the public keys of
  /// this configuration. Without servers no keys are known, so it returns true, unless a configuration was rejected.
  bool believes(const quern_remote_origin &origin);
  /// Queues an artifact for storage by another thread, if the queue has space.
  void store(const KernelKey &key, const std::string &target, const std::string &descriptor, std::string_view artifact);

  /// Returns zeros if there is no remote cache.
  quern_remote_counters counters();
  /// Waits until all artifacts are stored or dropped, or until the time is over.
  void flush(uint32_t milliseconds);

private:
  Remote *get();
  Result<void> open(const RemoteConfig &config);
  void readEnvironment();

  const std::function<Result<std::string>()> library;
  const Remote::Report report;
  std::atomic<bool> environmentRead{false};
  std::atomic<Remote *> current{nullptr};
  std::atomic<bool> isRefused{false}; ///< true if the configuration of servers was rejected
  std::atomic<uint32_t> patienceMs{0};
  ForkMutex mutex;                          ///< guards the member below; held while a library is opened
  std::vector<std::unique_ptr<Remote>> all; // threads may still use old ones
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_REMOTECACHE_H
