//===- Kernels.h - From a key to a loaded kernel -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The stages lookup, compile and load: the memory cache, the disk cache, packs, families, the remote cache, the
// compiler, in this order. The one place that holds state of the whole process besides the default threads.
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

/// A kernel and where it came from.
struct AcquiredKernel {
  std::shared_ptr<const Executable> executable;
  quern_origin_t origin = quern_origin_memory;
  int64_t compileNs = 0, loadNs = 0;
  std::shared_ptr<const std::string> pack; ///< its name, of a kernel that came from one
  /// What the kernel of a family is given (Family.h); empty: it is the problem's own.
  std::vector<int64_t> familySizes = {};
  /// What an execution would work out from those sizes each time (ExecutionContext::numbers); none: it does.
  std::vector<int64_t> familyNumbers = {};
};

/// Monotonic, in ns.
int64_t nowNs();

class Kernels {
public:
  /// The device of a `target` that is none of a CPU.
  using DeviceRef = std::shared_ptr<Device>;

  /// Where what a driver makes is kept; null: nowhere.
  struct Stores {
    DiskCache *disk = nullptr;
    RemoteCache *remote = nullptr;
    const quern_remote_origin *origin = nullptr; ///< of the artifact that is loaded; null: not of a server
  };

  /// The process's. Made at its first use.
  static Kernels &process();

  Kernels();

  /// Looks in the caches, else compiles. Concurrent requests for one key share the work. Thread-safe.
  Result<AcquiredKernel> acquire(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                 const DeviceRef &device = nullptr);
  /// The same, but that with `Both` the kernel of the family is taken where the problem's would have to be compiled,
  /// and with `Family` wherever there is one. Families are those of packs.
  Result<AcquiredKernel> acquireTier(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                     Tiers tiers);
  /// As acquire() on the host, but nobody who asks for the same key waits for what is compiled here. NotRequired if
  /// `isCut`, which may be null, has become true while others were waited for.
  Result<AcquiredKernel> acquireApart(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                      const std::atomic<bool> *isCut);
  /// Loads an artifact given by the caller; `invalid_arguments` if it is damaged, of another problem or build, or for
  /// an instruction set that `target` does not include. Cache sizes may differ: they decide speed, not results.
  /// `entries`, if there are any, are its functions, which are linked already; it has no code then.
  Result<AcquiredKernel> loadBlob(std::string_view bytes, const VerifiedProblem &problem, const Target &target,
                                  const DeviceRef &device = nullptr, std::span<void *const> entries = {});

  /// What loadBlob() takes: of a device with what its driver has made of the code, which spares it the work
  /// if it is the same driver.
  static Result<std::string> blobOf(const Executable &executable);
  /// Nothing that is loaded for the device stays in the memory cache.
  void forget(const Device &device);

  MemoryCache &memory() { return memoryCache; }
  /// The disk cache in use. Never null.
  std::shared_ptr<DiskCache> disk();
  /// "" switches it off; a refused directory does so too, with the reason.
  Result<void> setDisk(const std::string &directory);
  void setDiskCapacity(uint64_t bytes);
  Packs &packs() { return packSet; }
  RemoteCache &remote() { return remoteCache; }
  quern_cache_statistics_t statistics();

private:
  /// What is asked for, to make it.
  struct Request {
    const VerifiedProblem &problem;
    const KernelKey &key;
    const Target &target;
    const DeviceRef &device;
    const std::atomic<bool> *isCut = nullptr; ///< nobody wants it any more
  };
  class Waiter; ///< for servers and for others who make the same
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
  ForkMutex diskMutex; ///< guards what follows
  std::shared_ptr<DiskCache> diskCache;
  uint64_t diskCapacity = DiskCache::defaultCapacityBytes;
};

} // namespace quern

#endif // QUERN_RUNTIME_CORE_KERNELS_H
