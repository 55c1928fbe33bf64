//===- CpuMemory.h - How a CPU reads memory -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_CPUMEMORY_H
#define QUERN_SCHEDULE_BUILD_CPUMEMORY_H

#include <cstdint>

namespace quern {

constexpr int64_t lineBytes = 64;         ///< of a cache
constexpr int64_t pageBytes = 4096;       ///< of virtual memory, where hardware prefetchers stop
constexpr int64_t prefetcherReach = 2048; ///< hardware prefetchers follow shorter strides and runs from there on

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_CPUMEMORY_H
