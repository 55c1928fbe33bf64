//===- CpuMemory.h - Properties of CPUs that recipes assume ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_CPUMEMORY_H
#define QUERN_SCHEDULE_BUILD_CPUMEMORY_H

#include <cstdint>

namespace quern {

constexpr int64_t lineBytes = 64;   ///< bytes of a cache line
constexpr int64_t cacheWays = 8;    ///< minimum associativity of L1 and L2
constexpr int64_t pageBytes = 4096; ///< bytes of a page, at whose end hardware prefetchers stop
/// In bytes: hardware prefetchers follow smaller strides, and contiguous runs of at least this length.
constexpr int64_t prefetcherReach = 2048;
constexpr double vectorOperationNs = 0.17; ///< duration of a vector operation on one core

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_CPUMEMORY_H
