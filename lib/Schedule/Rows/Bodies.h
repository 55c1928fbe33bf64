//===- Bodies.h - Bodies of a chain's stages, cloned ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reduction's combiner is written apart, since it may be applied to partial results in any order, which the match has proved legal.
// Values are scalars or vectors: what comes out is of the type of what goes in.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_BODIES_H
#define QUERN_SCHEDULE_ROWS_BODIES_H

#include "Schedule/Rows/Chain.h"

namespace quern::rows {

using ValueOf = llvm::function_ref<mlir::Value(mlir::Value)>;

/// How a body is cloned.
struct BodyCloner {
  ValueOf captured; ///< what stands for a value from outside, or for a constant
  /// The result of a reduction's combiner; the values of the body's own are given by `valueOf`.
  llvm::function_ref<mlir::Value(mlir::Operation *combiner, mlir::Value term, mlir::Value accumulator, ValueOf valueOf)> reduced;
  llvm::function_ref<void(mlir::Operation *clone)> adapt; ///< gives a clone its type
};

/// The results of a stage's body. Fewer arguments than it has are legal where the rest is not read; null ones are not mapped.
llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, Stage &stage, llvm::ArrayRef<mlir::Value> arguments,
                                         const BodyCloner &cloner);

/// A maxnumf or minnumf whose accumulator cannot be NaN is one compare-and-select (one instruction); NaN terms lose, as required.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Operation *like, mlir::Value term, mlir::Value accumulator);

/// Adds a term to a sum, and to `lost` what rounding took from the sum (Knuth's TwoSum).
void addKeepingLost(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value &sum, mlir::Value &lost, mlir::Value term);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_BODIES_H
