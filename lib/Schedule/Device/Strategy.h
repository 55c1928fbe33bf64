//===- Strategy.h - What a device contributes to the recipes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_STRATEGY_H
#define QUERN_SCHEDULE_DEVICE_STRATEGY_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace quern {

/// What a device's recipes are given; one table per target fills it (Targets/*/Strategy.h). Each schedules a problem,
/// which stays, as one kernel behind it, `@<name>_kernel`, which takes
///   (each argument as a rank-1 or rank-0 memref over its whole buffer, [sizes {quern.sizes}: the dynamic sizes, as
///   scheduleRows() has them])
/// and runs in groups of work-items along x: `quern.space` (groups), `quern.factors` (of dynamic dims, which multiply
/// them), `quern.group_size`, `quern.sub_group_size` where it counts on that, `quern.plan`. Groups are independent.
struct DeviceStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Device/Strategy.def"
  /// Calls visit(name, member, least value, what it is) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &DeviceStrategy::NAME, LEAST, WHAT);
#include "Schedule/Device/Strategy.def"
  }
};

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_STRATEGY_H
