//===- Caches.h - The caches of a process ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_CACHES_H
#define QUERN_RUNTIME_KERNELS_CACHES_H

#include "Cache/Disk.h"
#include "Cache/Memory.h"
#include "Cache/Packs.h"
#include "Cache/RemoteCache.h"
#include "Compilation/Compiler.h"

#include "quern/quern_cache.h"

#include <atomic>
#include <memory>

namespace quern {

class Device;

/// Thread-safe.
class Caches {
public:
  /// Returns the instance of the process, which is created on first use and never destroyed.
  static Caches &process();

  MemoryCache memory;
  Packs packs;
  RemoteCache remote;
  std::atomic<uint64_t> compilations{0}; ///< number of kernels that were compiled for these caches

  /// Returns the disk cache in use. Never null.
  std::shared_ptr<DiskCache> disk();
  /// Sets the directory of the disk cache; "" disables it. If the directory is rejected, disables it and returns the
  /// reason.
  Result<void> setDisk(const std::string &directory);
  void setDiskCapacity(uint64_t bytes);

  /// Returns the compiler, for problems that no cache has. The reason for a failure names packs that were rejected.
  Result<Compiler> compiler();
  /// Stores an artifact that this process has compiled, both on disk and at the servers. Failures are counted.
  void store(DiskCache &disk, const KernelKey &key, const std::string &target, const std::string &descriptor,
             std::string_view artifact);
  /// Removes all kernels of the device from the memory cache.
  void forget(const Device &device);
  quern_cache_statistics_t statistics();

private:
  Caches();

  ForkMutex diskMutex; ///< guards the members below
  std::shared_ptr<DiskCache> diskCache;
  uint64_t diskCapacity = DiskCache::defaultCapacityBytes;
};

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_CACHES_H
