//===- Clock.h - The monotonic time ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_CLOCK_H
#define QUERN_SUPPORT_CLOCK_H

#include <chrono>
#include <cstdint>

namespace quern {

/// Returns the monotonic time in ns.
inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace quern

#endif // QUERN_SUPPORT_CLOCK_H
