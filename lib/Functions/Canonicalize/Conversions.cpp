//===- Conversions.cpp - Conversion of floats to integers -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// fptosi and fptoui are undefined for floats outside of the integer type, and targets return different values. Here
// such floats saturate and NaN becomes 0, as with the instructions of AArch64. Conversions that are known to be in
// range, such as a quantization that clamps, are unchanged.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::functions;
using arith::CmpFPredicate;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Range of a float.
struct FloatRange {
  double low = -infinity, high = infinity;
  bool mayBeNan = true;
};

FloatRange rangeOf(Value number, int depth = 0);

/// Returns the range of the larger (or smaller) of two numbers. Unless `keepsNan`, the result for a number and NaN is
/// the number.
FloatRange rangeOfExtreme(FloatRange a, FloatRange b, bool isMax, bool keepsNan) {
  auto pick = [&](double x, double y) { return isMax ? std::max(x, y) : std::min(x, y); };
  FloatRange range{pick(a.low, b.low), pick(a.high, b.high),
                   keepsNan ? a.mayBeNan || b.mayBeNan : a.mayBeNan && b.mayBeNan};
  for (const auto &[other, number] : {std::pair(a, b), std::pair(b, a)})
    if (!keepsNan && other.mayBeNan)
      range = {std::min(range.low, number.low), std::max(range.high, number.high), range.mayBeNan};
  return range;
}

/// Returns the range of a select that bounds a number by the constant with which it is compared.
std::optional<FloatRange> rangeOfBound(arith::SelectOp select, int depth) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  APFloat constant(0.0);
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantFloat(&constant)))
    return std::nullopt;
  const Value number = compare.getLhs();
  const bool keepsIfTrue = select.getTrueValue() == number, keepsIfFalse = select.getFalseValue() == number;
  APFloat other(0.0);
  if (keepsIfTrue == keepsIfFalse ||
      !matchPattern(keepsIfTrue ? select.getFalseValue() : select.getTrueValue(), m_ConstantFloat(&other)) ||
      !other.bitwiseIsEqual(constant))
    return std::nullopt;
  using enum CmpFPredicate;
  const CmpFPredicate predicate = compare.getPredicate();
  const bool isLess = llvm::is_contained({OLT, OLE, ULT, ULE}, predicate),
             isGreater = llvm::is_contained({OGT, OGE, UGT, UGE}, predicate),
             isOrdered = llvm::is_contained({OLT, OLE, OGT, OGE}, predicate);
  if (!isLess && !isGreater)
    return std::nullopt;
  bool ignored = false;
  APFloat wide = constant;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
  const double bound = wide.convertToDouble();
  FloatRange range = rangeOf(number, depth + 1);
  // With NaN, ordered comparisons are false and unordered ones true. NaN is dropped if that selects the bound.
  range.mayBeNan &= isOrdered != keepsIfTrue;
  double &side = isLess == keepsIfTrue ? range.high : range.low;
  side = isLess == keepsIfTrue ? std::min(side, bound) : std::max(side, bound);
  range.low = std::min(range.low, bound), range.high = std::max(range.high, bound);
  return range;
}

FloatRange rangeOf(Value number, int depth) {
  constexpr int maxDepth = 8;
  Operation *op = number.getDefiningOp();
  APFloat constant(0.0);
  if (!op || depth == maxDepth)
    return {};
  if (matchPattern(number, m_ConstantFloat(&constant))) {
    bool ignored = false;
    constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
    const double value = constant.convertToDouble();
    return constant.isNaN() ? FloatRange() : FloatRange{value, value, false};
  }
  auto of = [&](unsigned i) { return rangeOf(op->getOperand(i), depth + 1); };
  if (isa<math::RoundEvenOp, math::FloorOp, math::CeilOp, math::TruncOp>(op)) {
    const FloatRange range = of(0);
    return {std::floor(range.low), std::ceil(range.high), range.mayBeNan};
  }
  if (isa<arith::MaxNumFOp, arith::MaximumFOp, arith::MinNumFOp, arith::MinimumFOp>(op))
    return rangeOfExtreme(of(0), of(1), isa<arith::MaxNumFOp, arith::MaximumFOp>(op),
                          isa<arith::MaximumFOp, arith::MinimumFOp>(op));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (std::optional<FloatRange> range = rangeOfBound(select, depth))
      return *range;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    const double size = std::ldexp(1.0, static_cast<int>(bitsOf(op->getOperand(0).getType())));
    return isa<arith::UIToFPOp>(op) ? FloatRange{0, size, false} : FloatRange{-size / 2, size / 2, false};
  }
  if (isa<arith::ExtFOp>(op))
    return of(0);
  return {};
}

/// Range of an integer type, as floats of another type.
struct Bounds {
  double low = 0;   ///< the least integer
  double most = 0;  ///< the greatest float that does not exceed the greatest integer
  double limit = 0; ///< the least float that exceeds the greatest integer
};

Bounds boundsOf(Type integer, Type number, bool isSigned) {
  const int bits = static_cast<int>(bitsOf(integer)) - isSigned;
  const double limit = std::ldexp(1.0, bits);
  const int digits = number.isF64() ? 53 : 24;
  return {isSigned ? -limit : 0, bits <= digits ? limit - 1 : limit - std::ldexp(1.0, bits - digits), limit};
}

/// Emits a clamp in the form that `lib/Transforms/Narrow/ExpandSaturation.cpp` matches, without the parts that are
/// known to have no effect.
Value clamp(Numbers &on, Value number, const Bounds &bounds) {
  Type type = number.getType();
  const FloatRange range = rangeOf(number);
  auto bounded = [&](CmpFPredicate predicate, Value x, double bound) {
    Value constant = on.number(type, bound);
    return on.choose(on.compare(predicate, x, constant), x, constant);
  };
  if (range.mayBeNan)
    number = on.choose(on.compare(CmpFPredicate::ORD, number, number), number, on.number(type, 0));
  if (range.low < bounds.low)
    number = bounded(CmpFPredicate::OGT, number, bounds.low);
  return range.high > bounds.most ? bounded(CmpFPredicate::OLT, number, bounds.most) : number;
}

} // namespace

bool functions::defineConversion(Operation *op) {
  const bool isSigned = isa<arith::FPToSIOp>(op);
  if (!isSigned && !isa<arith::FPToUIOp>(op))
    return false;
  OpBuilder builder(op);
  Numbers on(builder, op->getLoc());
  Value from = op->getOperand(0);
  Type type = op->getResult(0).getType();
  if (from.getType().getIntOrFloatBitWidth() < 32)
    from = on.make<arith::ExtFOp>(builder.getF32Type(), from);
  const Bounds bounds = boundsOf(type, from.getType(), isSigned);
  const FloatRange range = rangeOf(from);
  const bool isInRange = !range.mayBeNan && range.low > bounds.low - 1 && range.high < bounds.limit;
  if (isInRange && !type.isInteger(1)) {
    op->setOperand(0, from);
    return false;
  }
  Value clamped;
  if (auto round = from.getDefiningOp<math::RoundEvenOp>())
    clamped = on.make<math::RoundEvenOp>(clamp(on, round.getOperand(), bounds));
  else
    clamped = clamp(on, from, bounds);
  const Type converted = type.isInteger(1) ? builder.getI8Type() : type; // devices cannot convert i1
  Value result = isSigned ? on.make<arith::FPToSIOp>(converted, clamped) : on.make<arith::FPToUIOp>(converted, clamped);
  if (converted != type)
    result = on.make<arith::TruncIOp>(type, result);
  if (bounds.most + 1 < bounds.limit) { // the greatest integer is not a float
    const unsigned bits = bitsOf(type);
    Value most = on.integer(type, isSigned ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits));
    Value isBeyond = on.compare(CmpFPredicate::OGE, from, on.number(from.getType(), bounds.limit));
    result = on.choose(isBeyond, most, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}
