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
#include "Schedule/Problem/Match.h"

namespace quern {

/// Matches `problem`. Emission creates the kernel that Build/Kernel.h describes. Arguments of one type and layout may
/// share memory. A chain without a reduction, a product, and a kernel without group memory because the device has too
/// little are fallbacks. Returns null with a one-line reason if the chain does not match.
MatchPtr matchDeviceRows(const schedule::Problem &problem, const DeviceStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_DEVICE_ROWS_H
