//===- Problem.h - What all recipes read from a problem's linalg ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem is read once, whichever recipe then takes it: its ops in order, the extents of their loops, where
// their operands lie, and the scalar code in front of them. What no recipe takes is said here; what a recipe
// makes of the ops is its own.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_PROBLEM_H
#define QUERN_SCHEDULE_PROBLEM_PROBLEM_H

#include "Schedule/Problem/Access.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace quern {

struct ProblemOp {
  ProblemOp(mlir::linalg::LinalgOp op, const rows::ArgumentSizes &sizes);

  mutable mlir::linalg::LinalgOp op; ///< a handle, whose accessors are not const
  /// Of its loops; untold where no argument tells, or a number is not below rows::endOfNumbers.
  rows::Sizes extents;
  llvm::SmallVector<LoopAccess, 6> operands; ///< by number
  /// What the body has of the loops' indices, as addresses of which each is its own value; `base` is that value.
  llvm::SmallVector<LoopAccess, 1> indices;

  const LoopAccess &at(mlir::OpOperand &operand) const { return operands[operand.getOperandNumber()]; }
};

struct Problem {
  Problem(mlir::func::FuncOp function); // NOLINT(google-explicit-constructor): a schedule takes either

  mutable mlir::func::FuncOp function; ///< a handle
  rows::ArgumentSizes sizes;
  llvm::SmallVector<ProblemOp, 8> ops; ///< of linalg, fills included
  /// Scalar code that bodies capture, and memory beside the arguments (isFlatBase()).
  llvm::SmallVector<mlir::Operation *, 8> prologue;
  std::string whyNot; ///< why this is no problem in linalg; empty: it is
};

} // namespace quern

#endif // QUERN_SCHEDULE_PROBLEM_PROBLEM_H
