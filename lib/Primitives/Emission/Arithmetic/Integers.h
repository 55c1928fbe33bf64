//===- Integers.h - Exact arithmetic on integer elements ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each function computes in the narrowest integers that hold the exact result, whose interval follows from the types of
// the operands, and saturates once, to the type of the destination. Only a sum of two elements and the absolute value
// saturate in 32 bits first if an operand is s32. Elements are of s32, s8 or u8.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_INTEGERS_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_INTEGERS_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern::emission {

/// An element and its data type, which gives the sign of the signless value.
struct IntegerElement {
  mlir::Value value;
  DataType type = DataType::S32;
};

/// Emits `x alg y` for every binary algorithm except div, saturated to `to`. Comparisons give 1 or 0; select gives x if
/// `condition` is not 0, else y.
mlir::Value emitIntegerBinary(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, IntegerElement x, IntegerElement y,
                              IntegerElement condition, DataType to);

/// Emits f(x) for the eltwise algorithms of computesOnIntegers(), saturated to `to`. The bounds of a clip are rounded
/// to nearest even, as the result of a float clip would be.
mlir::Value emitIntegerEltwise(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, float alpha, float beta,
                               IntegerElement x, DataType to);

/// A sum of elements times integer factors, computed in several steps. All steps compute modulo two to the power of the
/// width, and the width holds the exact value of the whole sum.
class IntegerSum {
public:
  /// `factors` has the factor and `types` the element type of each term of the sum.
  IntegerSum(mlir::MLIRContext *context, llvm::ArrayRef<float> factors, llvm::ArrayRef<DataType> types);
  /// Returns the type of the value between two steps.
  mlir::IntegerType type() const { return sumType; }
  /// Adds the terms from `first` on, whose elements are `elements`, to `before`, which may be null.
  mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value before, size_t first,
                  mlir::ValueRange elements) const;
  /// Saturates the whole sum to `to`.
  mlir::Value finish(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum, DataType to) const;
  /// Returns the saturated sum of `elements`, one for each term.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange elements, DataType to) const;

private:
  llvm::SmallVector<int64_t, 4> factors;
  llvm::SmallVector<DataType, 4> types;
  int64_t low = 0, high = 0;
  mlir::IntegerType sumType;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_INTEGERS_H
