//===- Scalars.cpp - Errors of scalar arithmetic --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An operation is also evaluated at both ends of the range of each operand that has an error. This serves every
// operation: those with a slope, roundings to narrow types, and choices that may go the other way. Errors of several
// operands add up.
//
//===----------------------------------------------------------------------===//
#include "Functions/Errors/Scalars.h"

#include "Desc/Mlir.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cfloat>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Emits arithmetic on f64.
class Wide {
public:
  Wide(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(double number) { return arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(number)); }
  Value isBelow(Value a, Value b) { return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b); }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value plus(Value a, Value b) { return a && b ? arith::AddFOp::create(builder, loc, a, b).getResult() : a ? a : b; }
  Value times(Value a, double factor) { return arith::MulFOp::create(builder, loc, a, constant(factor)); }
  Value larger(Value a, Value b) {
    return a && b ? arith::MaxNumFOp::create(builder, loc, a, b).getResult() : a ? a : b;
  }

  Value from(Value number) {
    Type f64 = builder.getF64Type();
    if (number.getType().isF64())
      return number;
    if (isa<FloatType>(number.getType()))
      return arith::ExtFOp::create(builder, loc, f64, number);
    if (number.getType().isInteger(4)) // targets cannot convert half bytes
      number = arith::ExtSIOp::create(builder, loc, builder.getI8Type(), number);
    if (number.getType().isIndex())
      number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
    if (number.getType().isInteger(1))
      return arith::UIToFPOp::create(builder, loc, f64, number);
    return arith::SIToFPOp::create(builder, loc, f64, number);
  }

  /// Converts to a type. Rounds to the nearest float; for an integer type, clamps to its range (at most that of i32)
  /// and truncates.
  Value to(Value wide, Type type) {
    if (type.isF64())
      return wide;
    if (isa<FloatType>(type))
      return arith::TruncFOp::create(builder, loc, type, wide);
    const unsigned bits = type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
    Value most = constant(static_cast<double>(llvm::maxIntN(std::min(bits, 32u)))),
          least = constant(static_cast<double>(llvm::minIntN(std::min(bits, 32u))));
    Value within = arith::MaxNumFOp::create(builder, loc, arith::MinNumFOp::create(builder, loc, wide, most), least);
    Type integer = type.isIndex() ? builder.getI64Type() : bits < 8 ? builder.getI8Type() : type;
    Value number = arith::FPToSIOp::create(builder, loc, integer, within);
    if (bits < 8)
      return arith::TruncIOp::create(builder, loc, type, number);
    return type.isIndex() ? arith::IndexCastOp::create(builder, loc, type, number).getResult() : number;
  }

  /// Returns a number at an end of its range.
  Value moved(Value number, Value error, double sign) {
    if (number.getType().isInteger(1))
      return arith::XOrIOp::create(builder, loc, number, isBelow(constant(0), error));
    Value step = times(error, sign * oracleMargin);
    if (isa<IntegerType, IndexType>(number.getType()))
      step = sign > 0 ? math::CeilOp::create(builder, loc, step).getResult()
                      : math::FloorOp::create(builder, loc, step).getResult();
    return to(plus(from(number), step), number.getType());
  }

  /// Returns a divisor, or 1 for values with which a division traps.
  Value divisorFrom(Value number) {
    auto integer = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(number.getType(), value));
    };
    auto is = [&](int64_t value) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, integer(value));
    };
    return choose(arith::OrIOp::create(builder, loc, is(0), is(-1)), integer(1), number);
  }

  /// Returns |a - b| as an error: 0 for equal infinities and for two NaNs, infinity if only one is NaN.
  Value distance(Value a, Value b) {
    a = from(a), b = from(b);
    auto compare = [&](arith::CmpFPredicate what, Value x, Value y) -> Value {
      return arith::CmpFOp::create(builder, loc, what, x, y);
    };
    Value between = abs(arith::SubFOp::create(builder, loc, a, b));
    Value noNumber = compare(arith::CmpFPredicate::UNO, between, between);
    Value neither = arith::AndIOp::create(builder, loc, compare(arith::CmpFPredicate::UNO, a, a),
                                          compare(arith::CmpFPredicate::UNO, b, b));
    Value same = arith::OrIOp::create(builder, loc, compare(arith::CmpFPredicate::OEQ, a, b), neither);
    Value far = choose(noNumber, constant(std::numeric_limits<double>::infinity()), between);
    return times(choose(same, constant(0), far), 1 / oracleMargin);
  }

private:
  OpBuilder &builder;
  Location loc;
};

/// Returns the error of one rounding relative to the result; nullopt for types other than f32 and f64.
std::optional<double> unitOf(Type type) {
  if (type.isF32())
    return 0x1p-24;
  return type.isF64() ? std::optional(0x1p-53) : std::nullopt;
}

/// Returns the number of roundings by which a result of exact operands may be off. Functions are approximated.
double roundingsOf(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::RemFOp, arith::TruncFOp, arith::SIToFPOp,
          arith::UIToFPOp>(op))
    return 1;
  if (isa<arith::DivFOp, math::SqrtOp, math::FmaOp>(op)) // a target may use a reciprocal, or round the product
    return 2;
  if (isa<math::RsqrtOp>(op))
    return 3;
  const bool isExact =
      isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::RoundEvenOp, math::TruncOp, math::CopySignOp>(op);
  return isa<math::MathDialect>(op->getDialect()) && !isExact ? 4 : 0;
}

/// Returns true if a nonzero result may become 0: approximations end at the least normal number of f32.
bool mayVanish(Operation *op) {
  return isa<arith::DivFOp, math::ExpOp, math::Exp2Op, math::PowFOp, math::ErfcOp, math::ErfOp, math::TanhOp,
             math::ExpM1Op, math::Log1pOp>(op);
}

bool isExactInteger(Operation *op) {
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isa<IntegerType>(op->getOperand(0).getType()) &&
         op->getOperand(0).getType().getIntOrFloatBitWidth() <= 24;
}

} // namespace

Value ScalarErrors::orZero(OpBuilder &builder, Value number) const {
  Value error = of(number);
  return error ? error : Wide(builder, number.getLoc()).constant(0);
}

Value ScalarErrors::roundingOf(OpBuilder &builder, Value number, double roundings) {
  std::optional<double> unit = unitOf(number.getType());
  if (!unit)
    return {};
  Wide wide(builder, number.getLoc());
  const double infinity = std::numeric_limits<double>::infinity(), most = *unit > 0x1p-50 ? FLT_MAX : DBL_MAX;
  Value size = wide.abs(wide.from(number));
  Value own = wide.choose(wide.isBelow(wide.constant(most), size), wide.constant(infinity),
                          wide.times(size, *unit * roundings));
  // Infinity and NaN have no error, because they are the same in any arithmetic.
  return wide.choose(wide.isBelow(size, wide.constant(infinity)), own, wide.constant(0));
}

/// Returns true if an operand divides integers. Its possible values include 0, which traps, and -1, which may overflow.
bool isDivisor(OpOperand &operand) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(operand.getOwner()) &&
         operand.getOperandNumber() == 1;
}

/// Returns the error that results from the operands' errors, compared with `result`.
Value ScalarErrors::spreadOf(OpBuilder &builder, Operation *op, Value result) const {
  Wide wide(builder, op->getLoc());
  if (isa<arith::AddFOp, arith::SubFOp>(op) && unitOf(result.getType()))
    return wide.plus(of(op->getOperand(0)), of(op->getOperand(1)));
  Value total;
  for (OpOperand &operand : op->getOpOperands()) {
    Value error = of(operand.get()), most;
    if (!error)
      continue;
    for (double sign : {-1.0, 1.0}) {
      Operation *other = op->clone();
      Value moved = wide.moved(operand.get(), error, sign);
      other->setOperand(operand.getOperandNumber(), isDivisor(operand) ? wide.divisorFrom(moved) : moved);
      builder.insert(other);
      most = wide.larger(most, wide.distance(other->getResult(0), result));
    }
    total = wide.plus(total, most);
  }
  return total;
}

/// Emits the error of an operation on bf16 or f16, which is computed in f64 and rounded.
Value ScalarErrors::narrowErrorOf(OpBuilder &builder, Operation *op) {
  Wide wide(builder, op->getLoc());
  Operation *own = op->clone();
  for (OpOperand &operand : own->getOpOperands()) {
    Value error = of(operand.get()), number = wide.from(operand.get());
    if (error)
      set(number, error);
    operand.set(number);
  }
  own->getResult(0).setType(builder.getF64Type());
  builder.insert(own);
  Value exact = own->getResult(0), error = spreadOf(builder, own, exact);
  error = wide.plus(error, wide.times(wide.abs(exact), roundingsOf(op) * 0x1p-24));
  Value result = op->getResult(0), most;
  for (double sign : {-1.0, 1.0})
    most = wide.larger(most, wide.distance(wide.to(wide.moved(exact, error, sign), result.getType()), result));
  return most;
}

void ScalarErrors::follow(OpBuilder &builder, Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndexOrFloat())
    return;
  Wide wide(builder, op->getLoc());
  Value result = op->getResult(0);
  auto isOfType = [&](Value operand) { return operand.getType() == result.getType(); };
  const double roundings = isExactInteger(op) ? 0 : roundingsOf(op);
  const bool isNarrow = isa<FloatType>(result.getType()) && !unitOf(result.getType());
  Value error;
  if (isNarrow && roundings > 0 && llvm::all_of(op->getOperands(), isOfType)) {
    error = narrowErrorOf(builder, op);
  } else {
    error = spreadOf(builder, op, result);
    if (roundings > 0 && !isNarrow)
      error = wide.plus(error, roundingOf(builder, result, roundings));
    if (result.getType().isF32() && mayVanish(op))
      error = wide.plus(error, wide.constant(FLT_MIN));
  }
  if (error)
    set(result, error);
}
