//===- Integers.cpp - Integer arithmetic that is defined for all operands -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Division by zero, INT_MIN / -1 and shifts by the width or more are undefined in arith, and a division traps on x86,
// even in a lane whose result is masked off. Here each gets its StableHLO value, so that no later stage must guard a
// lane. Targets have no arithmetic on i4, which is computed in i8.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;
using arith::CmpIPredicate;

namespace {

bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp>(op);
}

bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

bool isRemainder(Operation *op) { return isa<arith::RemSIOp, arith::RemUIOp>(op); }

/// Emits the quotient or the remainder for a divisor with which no instruction traps.
Value divideBySafe(Numbers &on, Operation *op, Value a, Value b) {
  if (isa<arith::RemSIOp>(op))
    return on.make<arith::RemSIOp>(a, b);
  if (isa<arith::RemUIOp>(op))
    return on.make<arith::RemUIOp>(a, b);
  Value quotient = isSigned(op) ? on.make<arith::DivSIOp>(a, b) : on.make<arith::DivUIOp>(a, b);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return quotient;
  Value rest = on.make<arith::SubIOp>(a, on.make<arith::MulIOp>(quotient, b)), zero = on.integer(a.getType(), 0);
  Value isMoved = on.compare(CmpIPredicate::ne, rest, zero); // whether the quotient was rounded toward zero
  if (isSigned(op)) { // up if the exact quotient is positive, down if it is negative
    const auto sign = isa<arith::FloorDivSIOp>(op) ? CmpIPredicate::slt : CmpIPredicate::sge;
    isMoved = on.make<arith::AndIOp>(isMoved, on.compare(sign, on.make<arith::XOrIOp>(rest, b), zero));
  }
  Value moved = on.make<arith::AddIOp>(quotient, on.integer(a.getType(), isa<arith::FloorDivSIOp>(op) ? -1 : 1));
  return on.choose(isMoved, moved, quotient);
}

/// Emits a division by a constant. Division by -1 is a negation, which wraps around.
Value divideByConstant(Numbers &on, Operation *op, Value a, const APInt &divisor) {
  if (divisor.isZero())
    return isRemainder(op) ? a : on.integer(a.getType(), -1);
  if (!isSigned(op) || !divisor.isAllOnes())
    return divideBySafe(on, op, a, op->getOperand(1));
  Value zero = on.integer(a.getType(), 0);
  return isRemainder(op) ? zero : on.make<arith::SubIOp>(zero, a);
}

/// Emits a division with StableHLO's results: by zero, the quotient has all bits set and the remainder is the dividend;
/// INT_MIN / -1 is INT_MIN, which is the quotient by 1, with remainder 0.
Value divide(Numbers &on, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Type type = a.getType();
  if (type.isInteger(1)) // a nonzero divisor is 1, or -1 as a signed number
    return isRemainder(op) ? on.choose(b, on.integer(type, 0), a) : on.choose(b, a, on.integer(type, -1));
  APInt constant;
  if (matchPattern(b, m_ConstantInt(&constant)))
    return divideByConstant(on, op, a, constant);
  Value isZero = on.compare(CmpIPredicate::eq, b, on.integer(type, 0)), isUnsafe = isZero;
  if (isSigned(op)) {
    Value least = on.integer(type, APInt::getSignedMinValue(bitsOf(type)));
    Value overflows = on.make<arith::AndIOp>(on.compare(CmpIPredicate::eq, a, least),
                                             on.compare(CmpIPredicate::eq, b, on.integer(type, -1)));
    isUnsafe = on.make<arith::OrIOp>(isZero, overflows);
  }
  Value result = divideBySafe(on, op, a, on.choose(isUnsafe, on.integer(type, 1), b));
  return on.choose(isZero, isRemainder(op) ? a : on.integer(type, -1), result);
}

/// Emits a shift by an unsigned amount. If the amount is at least the width, the result is 0, or for `shrsi` the sign
/// in all bits.
Value shift(Numbers &on, Operation *op) {
  Value a = op->getOperand(0), amount = op->getOperand(1);
  Type type = a.getType();
  const unsigned bits = bitsOf(type);
  Value limit = on.integer(type, APInt(bits, bits - 1));
  if (isa<arith::ShRSIOp>(op))
    return on.make<arith::ShRSIOp>(a, on.make<arith::MinUIOp>(amount, limit));
  Value shifted = isa<arith::ShLIOp>(op) ? on.make<arith::ShLIOp>(a, amount) : on.make<arith::ShRUIOp>(a, amount);
  return on.choose(on.compare(CmpIPredicate::ugt, amount, limit), on.integer(type, 0), shifted);
}

bool isShiftInRange(Operation *op) {
  APInt amount;
  return matchPattern(op->getOperand(1), m_ConstantInt(&amount)) && amount.ult(amount.getBitWidth());
}

/// Returns true if an operation is the minimum or maximum of two bits, which devices lack.
bool isExtremeOfBits(Operation *op) {
  return isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op) &&
         op->getResult(0).getType().isInteger(1);
}

/// Emits the minimum or maximum of two bits as logic. As a signed number, true is -1.
Value extremeOfBits(Numbers &on, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  return isa<arith::MaxUIOp, arith::MinSIOp>(op) ? on.make<arith::OrIOp>(a, b) : on.make<arith::AndIOp>(a, b);
}

bool isHalfByte(Type type) { return type.isInteger(4); }

/// Returns true if an operation on i4 is the same in a wider type, because it moves or converts bits.
bool isOfAnyWidth(Operation *op) {
  return isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SelectOp, arith::ConstantOp>(op);
}

bool takesUnsigned(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() >= CmpIPredicate::ult;
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op))
    return operand.getOperandNumber() == 1;
  return isa<arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp, arith::MaxUIOp, arith::MinUIOp, arith::UIToFPOp,
             arith::IndexCastUIOp>(op);
}

/// Makes an operation on i4 compute in i8.
void widenHalfBytes(Operation *op) {
  OpBuilder builder(op);
  Type byte = builder.getI8Type();
  for (OpOperand &operand : op->getOpOperands())
    if (isHalfByte(operand.get().getType()))
      operand.set(takesUnsigned(operand)
                      ? arith::ExtUIOp::create(builder, op->getLoc(), byte, operand.get()).getResult()
                      : arith::ExtSIOp::create(builder, op->getLoc(), byte, operand.get()).getResult());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (Type type = result.getType(); isHalfByte(type)) {
      result.setType(byte);
      auto narrow = arith::TruncIOp::create(builder, op->getLoc(), type, result);
      result.replaceAllUsesExcept(narrow, narrow);
    }
}

/// Drops the caller's flags (no overflow, exact, non-negative), with which some results would be undefined.
void dropPromises(Operation *op) {
  if (auto arithmetic = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(arithmetic.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
  for (StringRef promise : {"isExact", "nonNeg"})
    op->removeAttr(promise);
}

} // namespace

bool functions::defineInteger(Operation *op) {
  dropPromises(op);
  const bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) && !isShiftInRange(op);
  if (!isShift && !isDivision(op) && !isExtremeOfBits(op))
    return false;
  OpBuilder builder(op);
  Numbers on(builder, op->getLoc());
  op->getResult(0).replaceAllUsesWith(isShift               ? shift(on, op)
                                      : isExtremeOfBits(op) ? extremeOfBits(on, op)
                                                            : divide(on, op));
  op->erase();
  return true;
}

void functions::computeInBytes(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !isOfAnyWidth(&op) &&
        (llvm::any_of(op.getOperandTypes(), isHalfByte) || llvm::any_of(op.getResultTypes(), isHalfByte)))
      widenHalfBytes(&op);
}
