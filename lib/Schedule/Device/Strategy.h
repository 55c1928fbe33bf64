//===- Strategy.h - A device's properties for the recipes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_STRATEGY_H
#define QUERN_SCHEDULE_DEVICE_STRATEGY_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace quern {

/// Parameters of a device's recipes; one table per target sets the fields (Targets/*/Strategy.cpp). Each recipe
/// schedules a problem, which is kept, as one kernel `@<name>_kernel` after it. The kernel takes each argument as a
/// rank-1 or rank-0 memref over its whole buffer, then, if there are any, the dynamic sizes {quern.sizes} in the order
/// of scheduleRows(). It runs in independent groups of work-items along x. Its KernelAttr has the number of groups
/// (`space`, multiplied by `factors` of dynamic dims), `group_size`, `sub_group_size` if it depends on that, and
/// `plan`.
struct DeviceStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Device/Strategy.def"
  /// Calls visit(name, member, minimum, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &DeviceStrategy::NAME, LEAST, WHAT);
#include "Schedule/Device/Strategy.def"
  }
};

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_STRATEGY_H
