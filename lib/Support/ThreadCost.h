//===- ThreadCost.h - Work that is worth another thread -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_THREADCOST_H
#define QUERN_SUPPORT_THREADCOST_H

#include <cstdint>

namespace quern {

/// Minimum work per thread in ns. Waking a thread costs several microseconds; with less work, fewer are faster.
inline constexpr int64_t nsWorthAThread = 8000;
/// Like nsWorthAThread, for threads that are awake and cost only a barrier.
inline constexpr int64_t nsWorthASlot = 1000;

} // namespace quern

#endif // QUERN_SUPPORT_THREADCOST_H
