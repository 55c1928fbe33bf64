//===- Kernels.h - From a key to a loaded kernel -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Performs the stages lookup, compile and load: searches the memory cache, the disk cache, packs, families and the
// remote cache, then compiles. Owns these caches for the process.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_KERNELS_H
#define QUERN_RUNTIME_CORE_KERNELS_H

#include "Cache/Disk.h"
#include "Cache/Memory.h"
#include "Cache/Packs.h"
#include "Cache/RemoteCache.h"
#include "Compilation/Race.h"
#include "Core/Executable.h"

#include "quern/quern_cache.h"
#include "quern/quern_info.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace quern {

/// A kernel and its origin.
struct AcquiredKernel {
  std::shared_ptr<const Executable> executable;
  quern_origin_t origin = quern_origin_memory;
  int64_t compileNs = 0, loadNs = 0;
  std::shared_ptr<const std::string> pack; ///< name of the pack that the kernel came from, or null
  /// Sizes to pass to the kernel of a family (Family.h); empty if the kernel is the problem's own.
  std::vector<int64_t> familySizes = {};
  /// Numbers that an execution would compute from these sizes each time (ExecutionContext::numbers); empty: it computes
  /// them.
  std::vector<int64_t> familyNumbers = {};
};

/// Returns the monotonic time in ns.
int64_t nowNs();

class Kernels {
public:
  /// The device of the target; null for a CPU.
  using DeviceRef = std::shared_ptr<Device>;

  /// Caches for the binary that a driver makes of a kernel. Null members are not used.
  struct Stores {
    DiskCache *disk = nullptr;
    RemoteCache *remote = nullptr;
    const quern_remote_origin *origin = nullptr; ///< origin of the loaded artifact; null if it is not from a server
  };

  /// Returns the instance of the process, which is created on first use.
  static Kernels &process();

  Kernels();

  /// Searches the caches, then compiles. Concurrent requests for one key share the work. Thread-safe.
  Result<AcquiredKernel> acquire(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                 const DeviceRef &device = nullptr);
  /// Like acquire(), but `Both` uses the kernel of the family if the problem's kernel would have to be compiled, and
  /// `Family` uses it whenever it exists. Families come only from packs.
  Result<AcquiredKernel> acquireTier(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                     Tiers tiers);
  /// Like acquire() on the host, but other requests for the key do not wait for this compilation. Returns NotRequired
  /// if `*isCut` became true during a wait for another process or host. `isCut` may be null.
  Result<AcquiredKernel> acquireUnshared(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                         const std::atomic<bool> *isCut);
  /// Loads an artifact that the caller passes. Fails with `invalid_arguments` if it is damaged, of another problem or
  /// build, or for an instruction set that `target` does not include. Cache sizes may differ: they affect speed, not
  /// results. If `entries` is not empty, the artifact has no code, and these are its functions, already linked.
  Result<AcquiredKernel> loadBlob(std::string_view bytes, const VerifiedProblem &problem, const Target &target,
                                  const DeviceRef &device = nullptr, std::span<void *const> entries = {});

  /// Returns the bytes for loadBlob(). For a device they include the driver's binary, which saves work if the driver is
  /// the same.
  static Result<std::string> blobOf(const Executable &executable);
  /// Removes all kernels of the device from the memory cache.
  void forget(const Device &device);

  MemoryCache &memory() { return memoryCache; }
  /// Returns the disk cache in use. Never null.
  std::shared_ptr<DiskCache> disk();
  /// Sets the directory of the disk cache; "" disables it. If the directory is rejected, disables it and returns the
  /// reason.
  Result<void> setDisk(const std::string &directory);
  void setDiskCapacity(uint64_t bytes);
  Packs &packs() { return packSet; }
  RemoteCache &remote() { return remoteCache; }
  quern_cache_statistics_t statistics();

private:
  /// A kernel to acquire.
  struct Request {
    const VerifiedProblem &problem;
    const KernelKey &key;
    const Target &target;
    const DeviceRef &device;
    const std::atomic<bool> *isCut = nullptr; ///< true once the kernel is no longer needed; may be null
  };
  class Waiter; ///< waits for servers and for others that compile the same kernel
  Result<AcquiredKernel> acquire(const Request &request, const std::function<Result<AcquiredKernel>()> &make);
  Result<AcquiredKernel> make(const Request &request);
  Result<AcquiredKernel> fromFamily(const VerifiedProblem &problem, const Target &target);
  Result<AcquiredKernel> find(DiskCache &disk, const Request &request);
  Result<AcquiredKernel> fromDisk(DiskCache &disk, const Request &request);
  Result<AcquiredKernel> fromPacks(DiskCache &disk, const Request &request);
  Result<AcquiredKernel> fromRemote(DiskCache &disk, const Request &request, Waiter &waiter);
  Result<AcquiredKernel> fetchOrCompile(DiskCache &disk, const Request &request);
  Result<AcquiredKernel> compile(DiskCache &disk, const Request &request);
  Result<Compiled> runCompiler(std::string_view descriptor, const std::string &target);
  Result<AcquiredKernel> keep(DiskCache &disk, const Request &request, Compiled &&compiled);

  MemoryCache memoryCache;
  Packs packSet;
  RemoteCache remoteCache;
  std::atomic<uint64_t> compilations{0};
  ForkMutex diskMutex; ///< guards the members below
  std::shared_ptr<DiskCache> diskCache;
  uint64_t diskCapacity = DiskCache::defaultCapacityBytes;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_KERNELS_H
