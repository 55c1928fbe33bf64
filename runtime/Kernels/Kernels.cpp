//===- Kernels.cpp - Acquiring kernels ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Kernels.h"

namespace quern {
namespace {

constexpr KernelSource specialized[] = {findOnDisk, findInPacks, findAtServers, compileKernel};
constexpr KernelSource withFamily[] = {findOnDisk, findInPacks, findFamily, findAtServers, compileKernel};
constexpr KernelSource local[] = {findOnDisk, findInPacks};
constexpr KernelSource others[] = {findAtServers, compileKernel}; ///< searched after `local` for an unshared kernel

} // namespace

Result<AcquiredKernel> acquireKernel(const KernelRequest &request, Tiers tiers) {
  KernelSearch search{request};
  if (tiers == Tiers::Family)
    if (Lookup<AcquiredKernel> found = findFamily(search))
      return *std::move(found);
  const std::span<const KernelSource> sources =
      tiers == Tiers::Both ? std::span<const KernelSource>(withFamily) : specialized;
  Lookup<AcquiredKernel> found = shareKernel(search, [&] { return findFirst(sources, search); });
  if (found)
    return *std::move(found);
  return found.isError() ? found.takeError() : internalError("the compiler returned no kernel");
}

Lookup<AcquiredKernel> acquireUnsharedKernel(const KernelRequest &request) {
  Lookup<AcquiredKernel> made;
  {
    KernelSearch search{request};
    if (Lookup<AcquiredKernel> known = shareKernel(search, [&] { return findFirst(local, search); }))
      return known;
    made = findFirst(others, search);
  } // releases the lock of the key: a thread that searches for the kernel may
    // wait for it
  KernelSearch search{request};
  return made ? shareKernel(search, [&] { return std::move(made); }) : std::move(made);
}

} // namespace quern
