//===- Strategy.h - A device's properties for the recipes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_STRATEGY_H
#define QUERN_SCHEDULE_DEVICE_STRATEGY_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace quern {

/// Parameters of a device's recipes; one table per target sets the fields (Targets/*/Strategy.cpp).
struct DeviceStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Device/Strategy.def"
  /// Calls visit(name, member, minimum, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &DeviceStrategy::NAME, LEAST, WHAT);
#include "Schedule/Device/Strategy.def"
  }
};

/// Returns the strategy of a fallback, whose kernels need no group memory.
inline DeviceStrategy withoutGroupMemory(DeviceStrategy strategy) {
  strategy.groupMemoryBytes = 0;
  return strategy;
}

/// Returns true if a kernel's group memory fits the device; otherwise sets the reason.
inline bool fitsGroupMemory(int64_t bytes, const DeviceStrategy &strategy, std::string &whyNot) {
  if (bytes <= strategy.groupMemoryBytes)
    return true;
  whyNot = "the kernel uses " + std::to_string(bytes) + " bytes of group memory; the device has " +
           std::to_string(strategy.groupMemoryBytes);
  return false;
}

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_STRATEGY_H
