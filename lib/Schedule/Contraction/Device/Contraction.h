//===- Contraction.h - The contraction recipe on a device ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same products and elementwise ops as Contraction.h, whose analysis it shares (Contraction/Chain.h). Columns
// go to the lanes of a sub-group, a block of rows to each work-item, and what several sub-groups read goes
// through the memory of the group.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Problem.h"

namespace quern {

/// Schedules `problem` as Strategy.h says.
/// An argument that only elementwise ops read may be the same memory as one of the same type and layout that they
/// write; arguments that otherwise overlap may not. Fails without a diagnostic where the function does not match;
/// `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleDeviceContraction(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H
