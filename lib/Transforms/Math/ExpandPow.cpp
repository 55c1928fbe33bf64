//===- ExpandPow.cpp - Expansion of powf ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// |x|^y = exp(y·log |x|): exp turns the argument's absolute error into a relative one, so the logarithm needs eleven
// more bits than the result. For f32 everything is computed in f64 with short series; for f64 the logarithm is the sum
// of two terms with an error of about 2^-68. For a constant y, the usual case, the treatment of negative x is decided
// at compile time.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Math/MathExpansions.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// (log m − 2s − ⅔s³) / s⁵ in s², s = (m − 1) / (m + 1), m in [√½, √2], absolute error 1.3e-20.
/// tools/approximations.py prints it.
constexpr double logTerms[] = {0.107622914186286449, 0.104563419454252853, 0.11766812466114947,
                               0.133332965495723634, 0.153846157609774639, 0.181818181796582475,
                               0.222222222222284254, 0.285714285714285646, 0.4};

/// Returns log m = 2s + ⅔s³ + s⁵·q(s²), with the first two terms in two-term precision.
TwoTerms logOfMantissa(VectorMath &math, Value m) {
  Value one = math.constant(1.0), f = math.sub(m, one);
  TwoTerms denominator = math.sum(one, m);
  Value inverse = math.div(one, denominator.high), s = math.mul(f, inverse);
  Value rest = math.fusedMulAdd(math.negate(s), denominator.high, f);
  Value sLow = math.mul(math.sub(rest, math.mul(s, denominator.low)), inverse);
  TwoTerms square = math.product(s, s);
  square.low = math.mulAdd(math.add(s, s), sLow, square.low);
  TwoTerms cube = math.product(s, square.high);
  cube.low = math.add(cube.low, math.mulAdd(s, square.low, math.mul(sLow, square.high)));
  Value twoThirds = math.constant(2.0 / 3.0), twoThirdsLow = math.constant(0x1.5555555555555p-55);
  TwoTerms second = math.product(cube.high, twoThirds);
  second.low = math.add(second.low, math.mulAdd(cube.high, twoThirdsLow, math.mul(cube.low, twoThirds)));
  Value third = math.mul(math.mul(cube.high, square.high), math.polynomial(square.high, logTerms));
  TwoTerms total = math.sum(math.add(s, s), second.high);
  total.low = math.add(math.add(total.low, math.add(sLow, sLow)), math.add(second.low, third));
  return total;
}

/// Returns y·log x.
TwoTerms logTimes(VectorMath &math, Value x, Value y) {
  auto [m, e] = splitFloat(math, x, /*mayBeDenormal=*/true);
  TwoTerms log = logOfMantissa(math, m);
  TwoTerms total = math.sum(math.mul(e, math.constant(6.93147180369123816490e-01)), log.high); // the product is exact
  total.low = math.add(total.low, math.mulAdd(e, math.constant(1.90821492927058770002e-10), log.low));
  TwoTerms product = math.product(y, total.high);
  product.low = math.mulAdd(y, total.low, product.low);
  return product;
}

/// Returns `argument` for a positive finite x, and y·log x otherwise: log 0 is -infinity, and the logarithms of
/// infinity and NaN are infinity and NaN.
Value withSpecials(VectorMath &math, Value argument, Value x, Value y) {
  Value zero = math.constant(0.0), limit = math.constant(infinity);
  Value log = math.select(CmpFPredicate::OEQ, x, zero, math.constant(-infinity), x);
  Value ordinary = math.select(CmpFPredicate::OLT, x, limit, argument, math.mul(log, y));
  return math.select(CmpFPredicate::OEQ, x, zero, math.mul(log, y), ordinary);
}

/// Returns x^y for x >= 0 or NaN.
Value powOfMagnitude(VectorMath &math, Value x, Value y) {
  if (math.isF32()) {
    VectorMath wide = math.asF64();
    x = math.extend(x), y = math.extend(y);
    Value argument = withSpecials(wide, wide.mul(expandLogForF32(wide, x), y), x, y);
    return math.truncate(expandExpForF32(wide, wide.atMost(wide.atLeast(argument, -110), 90)));
  }
  TwoTerms argument = logTimes(math, x, y);
  Value high = withSpecials(math, argument.high, x, y);
  // Outside the range of exp the low term may be anything, including NaN.
  Value low = math.select(CmpFPredicate::OLT, math.abs(high), math.constant(800), argument.low, math.constant(0.0));
  return expandExp(math, high, low, /*nonpositive=*/false);
}

/// Returns the value of y if it is constant.
std::optional<double> constantOf(Value y) {
  FloatAttr scalar;
  if (auto broadcast = y.getDefiningOp<vector::BroadcastOp>();
      broadcast && matchPattern(broadcast.getSource(), m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  DenseFPElementsAttr splat;
  if (matchPattern(y, m_Constant(&splat)) && splat.isSplat())
    return splat.getElementType().isF32() ? static_cast<double>(splat.getSplatValue<float>())
                                          : splat.getSplatValue<double>();
  return std::nullopt;
}

/// Corrects `power` of |x| for negative x: NaN unless y is an integer (or x is -0 or -inf), and negative if y is odd.
Value withSign(VectorMath &math, Value power, Value x, Value y) {
  Value zero = math.constant(0.0), nan = math.constant(std::numeric_limits<double>::quiet_NaN());
  auto nanIfNegative = [&] {
    Value inner = math.select(CmpFPredicate::OGT, x, math.constant(-infinity), nan, power);
    return math.select(CmpFPredicate::OLT, x, zero, inner, power);
  };
  if (std::optional<double> constant = constantOf(y)) {
    if (std::isinf(*constant) || std::nearbyint(*constant / 2) * 2 == *constant)
      return power;
    return std::nearbyint(*constant) == *constant ? math.copySign(power, x) : nanIfNegative();
  }
  Value half = math.mul(y, math.constant(0.5)), negative = nanIfNegative();
  Value integer = math.select(CmpFPredicate::OEQ, math.roundEven(half), half, power, math.copySign(power, x));
  Value result = math.select(CmpFPredicate::OEQ, math.roundEven(y), y, integer, negative);
  result = math.select(CmpFPredicate::OEQ, math.abs(y), math.constant(infinity), power, result);
  // x^0 = 1^y = 1, even for NaN.
  Value one = math.constant(1.0);
  result = math.select(CmpFPredicate::OEQ, y, zero, one, result);
  return math.select(CmpFPredicate::OEQ, x, one, one, result);
}

} // namespace

Value expandPow(VectorMath &math, Value x, Value y) {
  return withSign(math, powOfMagnitude(math, math.abs(x), y), x, y);
}

} // namespace quern
