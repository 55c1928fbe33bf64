//===- Rows.h - The rows recipe on a device ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Supports the chains of Rows/Rows.h and shares their analysis (Rows/Chain.h). A row is processed by a work-item, a
// sub-group or a group; reductions use shuffles and group memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H
#define QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Problem.h"

namespace quern {

/// Schedules `problem` as described in Build/Kernel.h. It must reduce along one dimension, unless this is the fallback.
/// Arguments of one type and layout may share memory.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleDeviceRows(const schedule::Problem &problem, const DeviceStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H
