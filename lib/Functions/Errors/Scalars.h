//===- Scalars.h - Errors of scalar arithmetic ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_ERRORS_SCALARS_H
#define QUERN_FUNCTIONS_ERRORS_SCALARS_H

#include "mlir/IR/Builders.h"

namespace quern::functions {

/// Errors of the numbers in scalar code, as f64: the permitted deviation divided by oracleMargin, if each operation is
/// computed in its type. For an i1, a positive error means that it may have the other value. Numbers without an error
/// are exact.
class ScalarErrors {
public:
  /// Returns the error of `number`; null: exact.
  mlir::Value of(mlir::Value number) const { return errors.lookup(number); }
  mlir::Value orZero(mlir::OpBuilder &builder, mlir::Value number) const;
  void set(mlir::Value number, mlir::Value error) { errors[number] = error; }
  /// Sets the errors of an operation's results: those propagated from its operands, and its own rounding. The builder
  /// must be after the operation.
  void follow(mlir::OpBuilder &builder, mlir::Operation *op);
  /// Returns the error of rounding `number` `roundings` times, as f64; null for types other than f32 and f64.
  static mlir::Value roundingOf(mlir::OpBuilder &builder, mlir::Value number, double roundings = 1);

private:
  mlir::Value spreadOf(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value result) const;
  mlir::Value narrowErrorOf(mlir::OpBuilder &builder, mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Value> errors;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_ERRORS_SCALARS_H
