//===- Scalars.h - How far arithmetic of the stated types may be off ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_ERRORS_SCALARS_H
#define QUERN_FUNCTIONS_ERRORS_SCALARS_H

#include "mlir/IR/Builders.h"

namespace quern::functions {

/// The errors of numbers in scalar code, f64 each, in units of 1 / oracleMargin of how far a number may be off; of an
/// i1 above 0 where it may be the other. Numbers without one are exact.
class ScalarErrors {
public:
  /// Null: exact.
  mlir::Value of(mlir::Value number) const { return errors.lookup(number); }
  mlir::Value orZero(mlir::OpBuilder &builder, mlir::Value number) const;
  void set(mlir::Value number, mlir::Value error) { errors[number] = error; }
  /// Gives the results of an operation errors: what those of its operands lead to, and its own rounding. The code for
  /// it goes where the builder is, behind the operation.
  void follow(mlir::OpBuilder &builder, mlir::Operation *op);
  /// Of rounding `number` once, f64; null for types that do not round.
  static mlir::Value roundingOf(mlir::OpBuilder &builder, mlir::Value number, double roundings = 1);

private:
  mlir::Value spreadOf(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value result) const;
  mlir::Value narrowErrorOf(mlir::OpBuilder &builder, mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Value> errors;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_ERRORS_SCALARS_H
