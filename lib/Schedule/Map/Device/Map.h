//===- Map.h - The map recipe on a device --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same ops as Map.h, whose analysis it shares (Map/Axes.h). Neighbouring work-items write neighbouring elements,
// and where they do not read neighbours, they do so into memory of their group first.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_DEVICE_MAP_H
#define QUERN_SCHEDULE_MAP_DEVICE_MAP_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Problem.h"

namespace quern {

/// Schedules `problem`, one elementwise op, as Strategy.h says.
/// Inputs of the destination's layout and size of elements may be the same memory; arguments that otherwise
/// overlap may not. Fails without a diagnostic where the function is no map; `whyNot`, if given, then
/// receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleDeviceMap(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_MAP_DEVICE_MAP_H
