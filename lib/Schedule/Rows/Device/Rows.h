//===- Rows.h - The rows recipe on a device ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same chains as Rows.h, whose analysis it shares (Rows/Chain.h). A row goes to a work-item, a sub-group or a
// group, and reductions go through shuffles and the memory of the group.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H
#define QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Problem.h"

namespace quern {

/// Schedules `problem`, which must reduce something along one dimension unless this is the last resort, as Strategy.h
/// says. Arguments of one type and layout may be the same memory; arguments that otherwise overlap may not.
/// Fails without a diagnostic when the chain does not match; `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleDeviceRows(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H
