//===- Kernels.h - Acquiring kernels --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Performs the stages lookup, compile and load, with the sources of kernels in a fixed order: the memory cache, the
// disk cache, packs, families, the remote cache, the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_KERNELS_H
#define QUERN_RUNTIME_KERNELS_KERNELS_H

#include "Kernels/Sources.h"

namespace quern {

/// Searches the caches, then compiles. Concurrent requests for one key share the work. With `Both`, uses the kernel of
/// the family if no cache of this machine and no pack has the problem's kernel; with `Family`, whenever it exists.
/// Families exist only on the CPU, and come only from packs. Thread-safe.
Result<AcquiredKernel> acquireKernel(const KernelRequest &request, Tiers tiers = Tiers::Specialized);
/// Like acquireKernel(), but other requests for the key do not wait for this compilation. Returns a miss if the request
/// was canceled.
Lookup<AcquiredKernel> acquireUnsharedKernel(const KernelRequest &request);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_KERNELS_H
