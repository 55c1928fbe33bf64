//===- Numbers.h - Builder of scalar code ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_NUMBERS_H
#define QUERN_FUNCTIONS_NUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace quern::functions {

/// Returns the width of an integer in arithmetic; an index has 64 bits.
inline unsigned bitsOf(mlir::Type type) {
  return type.isIndex() ? mlir::IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
}

/// Emits scalar code at the builder's insertion point.
class Numbers {
public:
  Numbers(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  template <typename Op, typename... Operands> mlir::Value make(Operands... operands) {
    return Op::create(builder, loc, operands...);
  }
  mlir::Value integer(mlir::Type type, const llvm::APInt &value) {
    return make<mlir::arith::ConstantOp>(builder.getIntegerAttr(type, value));
  }
  /// Emits an integer of the lower bits of `value`.
  mlir::Value integer(mlir::Type type, int64_t value) {
    return integer(type, llvm::APInt(64, static_cast<uint64_t>(value)).zextOrTrunc(bitsOf(type)));
  }
  /// Emits the nearest number of a float type.
  mlir::Value number(mlir::Type type, double value) {
    return make<mlir::arith::ConstantOp>(builder.getFloatAttr(type, value));
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value choose(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return make<mlir::arith::SelectOp>(condition, yes, no);
  }
  mlir::OpBuilder &at() { return builder; }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Drops the flags of an integer operation with which some results would be undefined. Replaces a division, a shift
/// that may be out of range, or the minimum or maximum of two bits by scalar code that is defined for all operands.
/// Returns true if it replaced, and so erased, the operation.
bool defineInteger(mlir::Operation *op);
/// Replaces a conversion of a float to an integer that is undefined for some numbers by scalar code that saturates; NaN
/// becomes 0. Returns true if it replaced the operation.
bool defineConversion(mlir::Operation *op);
/// Replaces a function of the math dialect that no target computes by functions that targets compute. Returns true if
/// it replaced the operation.
bool expandFunction(mlir::Operation *op);
/// Makes scalar code on i4 compute in i8.
void computeInBytes(mlir::Block &block);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_NUMBERS_H
