//===- Strategy.h - How problems are scheduled for a device ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The schedules that a device has, in the order in which they are tried, and what the device's limits contribute to each. Pure functions of
// the target.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_STRATEGY_H
#define QUERN_TARGETS_SPIRV_STRATEGY_H

#include "Desc/Target.h"
#include "Schedule/Contraction/Device/Contraction.h"
#include "Schedule/Map/Device/Map.h"
#include "Schedule/Rows/Device/Rows.h"

namespace quern {

DeviceStrategy deviceStrategyFor(const DeviceTraits &device);

/// Schedules `problem` by the first schedule that takes it, as kernels behind it; `problem` stays. Where none does, each is asked for what
/// it would rather leave to another, and for kernels without group memory. Fails without a diagnostic where that, too, is refused; `whyNot`
/// then has each one's reason, in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleForDevice(const Problem &problem, const DeviceTraits &device,
                                                                         std::string &whyNot);

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_STRATEGY_H
