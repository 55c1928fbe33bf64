//===- Batch.h - A loop around a schedule ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Products of a batch of matrices share no element: each is a problem of its own, and the batch a loop around its
// kernel. Whoever schedules one schedules all of them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_BATCH_H
#define QUERN_SCHEDULE_BUILD_BATCH_H

#include "Schedule/Problem/Problem.h"

#include <string>

namespace quern {

using ScheduleOne =
    llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>(const Problem &, std::string *)>;

/// Schedules a problem whose ops have a loop in common that its first reduction goes along in every
/// operand: `one` schedules the problem of one index of it, whose iterations come behind those of the index before.
/// Fails with a reason where there is no such loop, or `one` refuses.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleBatch(const Problem &problem, ScheduleOne one,
                                                                     std::string *whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_BATCH_H
