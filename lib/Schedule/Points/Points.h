//===- Points.h - The general schedule of a device -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Takes what emission writes, whatever its shape: a work-item computes one point of the space of the op that writes an argument, and by
// itself all that this point depends on. Intermediates are computed where they are read, so none lies in memory. Where reductions serve
// many points (the rows of a softmax), a work-item computes all of these, and the reductions once.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_POINTS_POINTS_H
#define QUERN_SCHEDULE_POINTS_POINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>

namespace quern {

/// What a target contributes.
struct PointsStrategy {
  int64_t groupSize = 256;  ///< most work-items of a group
  int64_t subGroupSize = 0; ///< that leaves a work-item registers enough; 0: any
};

/// Schedules `problem` as kernels that run one after the other, inserted in that order after it: `@<name>_kernel`, or `@<name>_kernel0`, …,
/// one for each op that writes an argument. Each takes
///   (each argument as a rank-1 or rank-0 memref over its whole buffer, [sizes {quern.sizes}: the dynamic sizes, as scheduleRows() has
///   them])
/// and runs in groups of work-items along x: `quern.space` (groups), `quern.factors` (of dynamic dims, which multiply them),
/// `quern.group_size`, `quern.plan`. Groups are independent. `problem` stays.
/// An argument may be the same memory as one of the same type and layout that an op writes; arguments that otherwise overlap may not.
/// Fails without a diagnostic where an intermediate cannot be computed where it is read; `whyNot`, if given, then receives the reason.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> schedulePoints(mlir::func::FuncOp problem, const PointsStrategy &strategy,
                                                                      std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_POINTS_POINTS_H
