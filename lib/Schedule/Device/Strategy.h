//===- Strategy.h - What a device contributes to the recipes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_STRATEGY_H
#define QUERN_SCHEDULE_DEVICE_STRATEGY_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace quern {

/// One table per target fills it (Targets/*/Strategy.h).
struct DeviceStrategy {
  llvm::SmallVector<int64_t, 4> subGroupSizes = {16, 32}; ///< ascending powers of two, none greater than a group
  int64_t maxGroup = 1024;                                ///< work-items, a power of two
  int64_t groupMemoryBytes = 65536;
  /// What one work-item should read or write at once; 0: an element, since the driver makes vectors of neighbouring work-items.
  int64_t vectorBytes = 0;
  /// Of a row, what a work-item in a sub-group of 16 keeps in registers; twice that in one of 8. Addresses take more than values do.
  int64_t heldBytes = 64;
  int64_t smallGroup = 128; ///< work-items of a group whose sub-groups share nothing
  int64_t lineBytes = 64;   ///< what one access of a sub-group should fill
};

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_STRATEGY_H
