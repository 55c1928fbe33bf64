//===- Sources.h - The sources of kernels ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is acquired from the first of several sources that has it. All sources have one interface: they return a
// hit, a miss or an error.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_SOURCES_H
#define QUERN_RUNTIME_KERNELS_SOURCES_H

#include "Cache/KeyLock.h"
#include "Compilation/Race.h"
#include "Engine/Executable.h"
#include "Kernels/Caches.h"
#include "Support/Lookup.h"

#include "quern/quern_info.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quern {

/// A kernel and its origin.
struct AcquiredKernel {
  std::shared_ptr<const Executable> executable{};
  quern_origin_t origin = quern_origin_memory;
  int64_t compileNs = 0, loadNs = 0;
  std::shared_ptr<const std::string> pack{}; ///< name of the pack that the kernel came from, or null
  /// Sizes to pass to the kernel of a family (Family.h); empty if the kernel is the problem's own.
  std::vector<int64_t> familySizes{};
  /// Numbers that an execution would compute from these sizes each time (ExecutionContext::numbers); empty: it computes
  /// them.
  std::vector<int64_t> familyNumbers{};
};

/// A kernel to acquire. Refers to objects that outlive it.
struct KernelRequest {
  const VerifiedProblem &problem;
  const KernelKey &key;
  const Target &target;
  const std::shared_ptr<Device> &device; ///< device of the target; null for a CPU
  const std::atomic<bool> *isCut = nullptr;

  /// Returns true once the kernel is no longer needed.
  bool isCanceled() const { return isCut && *isCut; }
};

/// One run through a list of sources, which share its state.
struct KernelSearch {
  const KernelRequest &request;
  Caches &caches = Caches::process();
  /// Excludes other processes and threads that would compile the kernel, until the search ends.
  std::optional<KeyLock> lock{};
  std::shared_ptr<Race> race{};           ///< compilation that began during a wait for servers; null: none
  std::shared_ptr<DiskCache> diskCache{}; ///< set by disk()

  /// Returns the disk cache that was in use at the first call.
  DiskCache &disk() {
    if (!diskCache)
      diskCache = caches.disk();
    return *diskCache;
  }
};

/// A place that may have a kernel. Sources are thread-safe.
using KernelSource = Lookup<AcquiredKernel> (*)(KernelSearch &search);

/// Finds the kernel in the disk cache.
Lookup<AcquiredKernel> findOnDisk(KernelSearch &search);
/// Finds the kernel in packs. A kernel for the CPU is not copied to the disk cache.
Lookup<AcquiredKernel> findInPacks(KernelSearch &search);
/// Finds the kernel of the problem's family, which only packs have.
Lookup<AcquiredKernel> findFamily(KernelSearch &search);
/// Queries servers, if any are configured, and waits for other processes and hosts that compile the same kernel. If a
/// response is late, starts the compiler meanwhile. A hit is stored on disk for later processes.
Lookup<AcquiredKernel> findAtServers(KernelSearch &search);
/// Compiles the kernel, and stores it on disk and at the servers. A canceled request is a miss.
Lookup<AcquiredKernel> compileKernel(KernelSearch &search);

/// Returns the first hit, or else the outcome of the last source: a failure of another source is a miss.
Lookup<AcquiredKernel> findFirst(std::span<const KernelSource> sources, KernelSearch &search);
/// Returns the kernel of the memory cache, or else the one that `make` returns, and adds it to the cache. Threads that
/// request the same kernel share one call of `make`.
Lookup<AcquiredKernel> shareKernel(KernelSearch &search, const std::function<Lookup<AcquiredKernel>()> &make);

/// Runs the compiler for a verified problem's canonical bytes.
Result<Compiled> runCompiler(Caches &caches, std::string_view descriptor, const std::string &target);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_SOURCES_H
