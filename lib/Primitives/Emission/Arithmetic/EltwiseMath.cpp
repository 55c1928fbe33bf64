//===- EltwiseMath.cpp - Builder of scalar arithmetic ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// gelu and swish are x times a sigmoid of x, which is written with e = exp(-|z|) for both signs: 1 / (1 + e) for
// positive z, e / (1 + e) for negative z, so that neither overflows nor cancels. For large negative z, e would be
// denormal although the product is not; e is then scaled by a power of two, which the last multiplication removes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/EltwiseMath.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {

Value EltwiseMath::constant(double value) {
  FloatAttr attr = builder.getFloatAttr(type, value);
  Value &cached = constants[attr];
  if (!cached)
    cached = arith::ConstantOp::create(builder, loc, attr);
  return cached;
}

Value EltwiseMath::add(Value x, Value y) { return arith::AddFOp::create(builder, loc, x, y); }
Value EltwiseMath::sub(Value x, Value y) { return arith::SubFOp::create(builder, loc, x, y); }
Value EltwiseMath::mul(Value x, Value y) { return arith::MulFOp::create(builder, loc, x, y); }
Value EltwiseMath::div(Value x, Value y) { return arith::DivFOp::create(builder, loc, x, y); }
Value EltwiseMath::abs(Value x) { return math::AbsFOp::create(builder, loc, x); }
Value EltwiseMath::negate(Value x) { return arith::NegFOp::create(builder, loc, x); }
Value EltwiseMath::fma(Value x, Value y, Value z) { return math::FmaOp::create(builder, loc, x, y, z); }

Value EltwiseMath::mulAdd(Value x, Value y, Value z) {
  Value xy = arith::MulFOp::create(builder, loc, x, y, arith::FastMathFlags::contract);
  return arith::AddFOp::create(builder, loc, xy, z, arith::FastMathFlags::contract);
}

Value EltwiseMath::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = mulAdd(sum, x, constant(coefficient));
  return sum;
}

Value EltwiseMath::compare(CmpFPredicate predicate, Value x, double limit) {
  return arith::CmpFOp::create(builder, loc, predicate, x, constant(limit));
}
Value EltwiseMath::select(Value condition, Value whenTrue, Value whenFalse) {
  return arith::SelectOp::create(builder, loc, condition, whenTrue, whenFalse);
}
// `limit < x ? limit : x` is one instruction, which returns x if x is NaN.
Value EltwiseMath::atMost(Value x, double limit) {
  Value bound = constant(limit);
  return select(arith::CmpFOp::create(builder, loc, CmpFPredicate::OLT, bound, x), bound, x);
}
Value EltwiseMath::atLeast(Value x, double limit) {
  Value bound = constant(limit);
  return select(arith::CmpFOp::create(builder, loc, CmpFPredicate::OGT, bound, x), bound, x);
}

Value EltwiseMath::expOfNonpositive(TwoTerms x) {
  auto exp = math::ExpOp::create(builder, loc, x.low ? add(x.high, x.low) : x.high);
  addRelaxation(exp, x.low ? Relaxation::Nonpositive | Relaxation::Unrounded : Relaxation::Nonpositive);
  return exp;
}

Value EltwiseMath::log1p(Value x) { return math::Log1pOp::create(builder, loc, x); }
Value EltwiseMath::sqrt(Value x) { return math::SqrtOp::create(builder, loc, x); }
Value EltwiseMath::pow(Value x, double exponent) { return math::PowFOp::create(builder, loc, x, constant(exponent)); }

TwoTerms EltwiseMath::product(Value x, Value y) {
  Value high = mul(x, y);
  return {high, fma(x, y, negate(high))};
}

ScaledExp EltwiseMath::scaledExp(TwoTerms z, Value tail) {
  // shift·ln 2 in two terms; the first has so few digits that adding it to any z of the tail is exact.
  double shift = tailStart();
  double high = isF32() ? 44.361419677734375 : 354.891356446692043391522,
         low = isF32() ? -1.2189787519729714e-7 : -4.4969899173914961e-14;
  z.high = select(tail, add(z.high, constant(high)), z.high);
  z.low = select(tail, z.low ? add(z.low, constant(low)) : constant(low), z.low ? z.low : constant(0));
  Value scaled = expOfNonpositive(z),
        factor = select(tail, constant(std::ldexp(1.0, -static_cast<int>(shift))), constant(1));
  return {scaled, factor, mul(scaled, factor)};
}

TwoTerms EltwiseMath::minusMagnitude(Value x, double factor) {
  double magnitude = std::fabs(factor), maxArgument = isF32() ? 200 : 1400;
  double largest =
      isF32() ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  Value clamped = atMost(abs(x), magnitude * largest > maxArgument ? maxArgument / magnitude : largest);
  if (magnitude == 1)
    return {negate(clamped), Value()};
  return product(clamped, constant(-magnitude));
}

Value emitLinear(EltwiseMath &math, Value x, double alpha, double beta) {
  if (beta == 0)
    return alpha == 1 ? x : math.mul(x, math.constant(alpha));
  if (alpha == 1)
    return math.add(x, math.constant(beta));
  return math.fma(x, math.constant(alpha), math.constant(beta));
}

/// Emits x to the power ½: √x, except for -inf and -0, whose powers are +inf and +0.
static Value squareRoot(EltwiseMath &math, Value x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value lifted = math.select(math.compare(CmpFPredicate::OEQ, x, -infinity), math.constant(infinity), x);
  return math.sqrt(math.add(lifted, math.constant(0)));
}

Value emitPower(EltwiseMath &math, Value x, double alpha, double beta) {
  Value result;
  if (beta == 0)
    return math.constant(alpha); // even for NaN
  if (beta == 1)
    result = x;
  else if (beta == 2)
    result = math.mul(x, x);
  else if (beta == -1)
    return math.div(math.constant(alpha), x);
  else if (beta == 0.5)
    result = squareRoot(math, x);
  else
    result = math.pow(x, beta);
  return alpha == 1 ? result : math.mul(result, math.constant(alpha));
}

/// Emits x·sigmoid(z): x / (1 + exp(-|z|)) or, if z is negative, x·exp(-|z|) / (1 + exp(-|z|)). `minusZ` is -|z|; see
/// scaledExp() for `tail`.
static Value timesSigmoid(EltwiseMath &math, Value x, TwoTerms minusZ, Value negative, Value tail) {
  ScaledExp e = math.scaledExp(minusZ, tail);
  Value one = math.constant(1);
  Value numerator = math.mul(x, math.select(negative, e.scaled, one));
  return math.mul(math.div(numerator, math.add(e.plain, one)), e.factor);
}

/// Returns two conditions: factor·x is negative; factor·x is below -start.
static std::pair<Value, Value> negativeAndTail(EltwiseMath &math, Value x, double factor, double start) {
  auto below = factor > 0 ? CmpFPredicate::OLT : CmpFPredicate::OGT;
  return {math.compare(below, x, 0), math.compare(below, x, -start / factor)};
}

Value emitSwish(EltwiseMath &math, Value x, double alpha) {
  if (alpha == 0)
    return math.mul(x, math.constant(0.5));
  auto [negative, tail] = negativeAndTail(math, x, alpha, math.tailStart());
  return timesSigmoid(math, x, math.minusMagnitude(x, alpha), negative, tail);
}

/// ½x·(1 + tanh y) = x·sigmoid(2y) with z = 2y = x·(a + b·x²). The sum in parentheses is computed in two terms.
GeluTanhArgument emitGeluTanhArgument(EltwiseMath &math, Value x) {
  bool isF32 = math.isF32();
  Value a = math.constant(isF32 ? 1.5957691669464111 : 1.5957691216057308),
        aLow = math.constant(isF32 ? -4.53406804e-8 : -9.96930880911e-17);
  Value b = math.constant(isF32 ? 0.07135481387376785 : 0.07135481627260025),
        bLow = math.constant(isF32 ? 2.398832396e-9 : -6.1751499e-19);
  // For larger |x|, -|z| is far below the arguments whose exp is not 0; the bound prevents overflow.
  Value magnitude = math.atMost(math.abs(x), isF32 ? 16 : 32);
  TwoTerms square = math.product(magnitude, magnitude), bSquare = math.product(square.high, b);
  bSquare.low = math.add(bSquare.low, math.mulAdd(square.high, bLow, math.mul(square.low, b)));
  Value sum = math.add(a, bSquare.high), added = math.sub(sum, a);
  Value error = math.add(math.sub(a, math.sub(sum, added)), math.sub(bSquare.high, added));
  error = math.add(error, math.add(bSquare.low, aLow));
  Value minus = math.negate(magnitude);
  TwoTerms z = math.product(minus, sum);
  z.low = math.mulAdd(minus, error, z.low);
  return {z, magnitude};
}

Value emitGeluTanh(EltwiseMath &math, Value x) {
  TwoTerms z = emitGeluTanhArgument(math, x).minus;
  auto tail = math.compare(CmpFPredicate::OLT, x, math.isF32() ? -9 : -19.5); // 2y is -66 and -560
  return timesSigmoid(math, x, z, math.compare(CmpFPredicate::OLT, x, 0), tail);
}

// ½·erfc(x / √2) = exp(-x²/2)·p(t) / (x + K) for x >= 0 with t = (x - K) / (x + K). p is near minimax over [0, 14.5]
// (f32, K = 2, absolute error 7.4e-10) or [0, 38.75] (f64, K = 3, 1.5e-17), beyond which exp is 0.
// tools/approximations.py prints the coefficients. A smaller K needs more terms, but makes the result less sensitive to
// the rounding of t.

static double normalTailBound(const EltwiseMath &math) { return math.isF32() ? 14.5 : 38.75; }
static double normalTailK(const EltwiseMath &math) { return math.isF32() ? 2 : 3; }

/// Emits p(t) with t = 2·ratio - 1, where ratio is x / (x + K).
static Value normalTailSeries(EltwiseMath &math, Value ratio) {
  static constexpr double f32Terms[] = {-0.0000215106856909429392, -0.0000953695488225161403, -0.00011773623130545494,
                                        0.000183507954357826578,   0.000820174587060119249,   0.000792002165077532752,
                                        -0.00194784032418017961,   -0.0067257358853097447,    -0.000470131150356016723,
                                        0.0367183877350969384,     0.0287973895487894269,     -0.331404442003744311,
                                        0.672408004644037962};
  static constexpr double f64Terms[] = {
      -1.07598775982315297e-9,   -6.46729593763970778e-9,   -8.78347806094609387e-9,  2.39705573779125296e-8,
      8.73084216243778343e-8,    4.26104658004278718e-8,    -2.65911310576299913e-7,  -5.91788913451016963e-7,
      4.01950105683019577e-9,    2.25485031609071681e-6,    3.6413337611709214e-6,    -3.51664251881765016e-6,
      -0.0000206893891045638695, -0.0000132464343715019704, 0.0000788126995071115017, 0.000154394551936531239,
      -0.000256575347788437026,  -0.00104582863355686737,   0.001027592259128138,     0.00697262124117827536,
      -0.010462867023310874,     -0.0472630251429926641,    0.230017719974603723,     -0.50933198191748929,
      0.729083690133372996};
  Value t = math.mulAdd(math.atMost(ratio, 1), math.constant(2), math.constant(-1));
  return math.polynomial(t, math.isF32() ? ArrayRef<double>(f32Terms) : ArrayRef<double>(f64Terms));
}

/// Emits exp(-x²/2).
static Value normalTailExp(EltwiseMath &math, Value magnitude) {
  TwoTerms square = math.product(magnitude, magnitude);
  Value minusHalf = math.constant(-0.5);
  return math.expOfNonpositive({math.mul(square.high, minusHalf), math.mul(square.low, minusHalf)});
}

NormalTail emitNormalTail(EltwiseMath &math, Value x) {
  Value magnitude = math.atMost(math.abs(x), normalTailBound(math));
  Value inverse = math.div(math.constant(1), math.add(magnitude, math.constant(normalTailK(math))));
  return {magnitude, normalTailSeries(math, math.mul(magnitude, inverse)), inverse, normalTailExp(math, magnitude)};
}

Value emitGeluErf(EltwiseMath &math, Value x) {
  double bound = normalTailBound(math);
  Value bounded = math.atMost(x, bound), magnitude = math.atMost(math.abs(bounded), bound);
  // x / (|x| + K) is a factor of the result and also yields t, so one division suffices.
  Value ratio = math.div(bounded, math.add(magnitude, math.constant(normalTailK(math))));
  Value series = normalTailSeries(math, math.abs(ratio));
  // exp is the last factor, because it is the only one that can be denormal.
  Value tail = math.mul(math.mul(series, ratio), normalTailExp(math, magnitude));
  return math.select(math.compare(CmpFPredicate::OGT, x, 0), math.sub(x, tail), tail);
}

/// x·tanh(log(1 + exp x)) = x·n / (n + 2q²) with n = p² + 2pq, where p : q = exp x : 1 and the larger of them is 1.
Value emitMish(EltwiseMath &math, Value x) {
  auto [negative, tail] = negativeAndTail(math, x, 1, math.tailStart());
  ScaledExp e = math.scaledExp(math.minusMagnitude(x, 1), tail);
  Value one = math.constant(1);
  Value p = math.select(negative, e.plain, one), q = math.select(negative, one, e.plain), twiceQ = math.add(q, q);
  Value scaled = math.select(negative, e.scaled, one);
  Value numerator = math.mulAdd(scaled, p, math.mul(scaled, twiceQ));
  Value denominator = math.mulAdd(twiceQ, q, math.select(tail, math.constant(0), numerator));
  return math.mul(math.div(math.mul(x, numerator), denominator), e.factor);
}

/// log(1 + exp(αx)) / α = [x if αx > 0] + log(1 + exp(-|αx|)) / α.
Value emitSoftRelu(EltwiseMath &math, Value x, double alpha) {
  if (alpha == 0)
    return math.constant(std::numeric_limits<double>::infinity());
  auto [negative, tail] = negativeAndTail(math, x, alpha, math.tailStart());
  ScaledExp e = math.scaledExp(math.minusMagnitude(x, alpha), tail);
  Value log = math.log1p(e.plain);
  // For large |αx|, log(1 + e) equals e.
  log = math.mul(math.div(math.select(tail, e.scaled, log), math.constant(alpha)), e.factor);
  return math.add(math.select(negative, math.constant(0), x), log);
}

} // namespace quern
