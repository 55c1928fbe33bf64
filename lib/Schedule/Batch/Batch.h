//===- Batch.h - A loop around a schedule ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The products of a batch share no elements. Each is a separate problem, and the batch is a loop around its kernel, so
// a schedule of one product serves all of them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BATCH_BATCH_H
#define QUERN_SCHEDULE_BATCH_BATCH_H

#include "Schedule/Problem/Problem.h"

#include <string>

namespace quern {

using ScheduleOne = llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>(const schedule::Problem &,
                                                                                              std::string *)>;

/// Schedules a problem whose ops share a loop that indexes every operand of its first reduction. `one` schedules the
/// problem of one index of that loop; in the kernel's space, the iterations of each index follow those of the index
/// before. Fails with a reason if there is no such loop or `one` fails.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleBatch(const schedule::Problem &problem, ScheduleOne one,
                                                                     std::string *whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_BATCH_BATCH_H
