//===- ThreadCost.h - Work that is worth another thread -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_THREADCOST_H
#define QUERN_SUPPORT_THREADCOST_H

#include <cstdint>

namespace quern {

/// Waking a thread costs several microseconds: with less work than this per thread, fewer threads are faster.
inline constexpr int64_t nsWorthAThread = 8000;
/// A thread that is awake costs only a barrier.
inline constexpr int64_t nsWorthASlot = 1000;

} // namespace quern

#endif // QUERN_SUPPORT_THREADCOST_H
