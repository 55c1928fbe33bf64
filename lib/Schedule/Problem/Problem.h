//===- Problem.h - The analysis of linalg that all recipes share ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem is read once, whichever recipe then schedules it: its ops in order, the extents of their loops, the
// addresses of their operands, and the scalar code before them. Problem also rejects what no recipe supports; further
// matching is up to each recipe.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_PROBLEM_H
#define QUERN_SCHEDULE_PROBLEM_PROBLEM_H

#include "Schedule/Problem/Access.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace quern::schedule {

struct ProblemOp {
  ProblemOp(mlir::linalg::LinalgOp op, const ArgumentSizes &sizes);

  mutable mlir::linalg::LinalgOp op; ///< a handle, whose accessors are not const
  /// Extents of its loops. An extent is untold if no argument determines it, or if it is not below endOfNumbers.
  Sizes extents;
  llvm::SmallVector<LoopAccess, 6> operands; ///< by operand number
  /// The loop indices that the body reads, as accesses whose address is the index; `base` is the linalg.index value.
  llvm::SmallVector<LoopAccess, 1> indices;

  const LoopAccess &at(mlir::OpOperand &operand) const { return operands[operand.getOperandNumber()]; }
};

struct Problem {
  Problem(mlir::func::FuncOp function); // NOLINT(google-explicit-constructor): a schedule takes either

  mutable mlir::func::FuncOp function; ///< a handle
  ArgumentSizes sizes;
  llvm::SmallVector<ProblemOp, 8> ops; ///< linalg ops, including fills
  /// Scalar code that bodies capture, and memory other than the arguments (isFlatBase()).
  llvm::SmallVector<mlir::Operation *, 8> prologue;
  std::string whyNot; ///< reason why no recipe supports the function; empty: one may
};

} // namespace quern::schedule

#endif // QUERN_SCHEDULE_PROBLEM_PROBLEM_H
