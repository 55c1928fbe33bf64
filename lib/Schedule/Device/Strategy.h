//===- Strategy.h - A device's properties for the recipes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_STRATEGY_H
#define QUERN_SCHEDULE_DEVICE_STRATEGY_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

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

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_STRATEGY_H
