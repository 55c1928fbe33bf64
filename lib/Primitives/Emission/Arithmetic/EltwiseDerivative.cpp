//===- EltwiseDerivative.cpp - Derivatives of the eltwise functions -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// As in the functions themselves, exponentials are written with e = exp(-|z|), which cannot overflow: a sigmoid is n /
// (1 + e), where n is 1 for positive z and e for negative z, and its derivative is e / (1 + e)². Factors that grow with
// x are clamped where e is 0, so that infinity is never multiplied by 0.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/EltwiseDerivative.h"

#include "Primitives/Emission/Arithmetic/EltwiseMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

class EltwiseBackwardEmitter {
public:
  EltwiseBackwardEmitter(OpBuilder &builder, Location loc, float alpha, float beta, Value x, Value gradient)
      : builder(builder), loc(loc), math(builder, loc, x.getType()), alpha(alpha), beta(beta), x(x),
        gradient(gradient) {}

  Value emit(Alg alg);

private:
  Value smooth(Alg alg);
  Value piecewise(Alg alg);
  Value zero() { return math.constant(0); }
  Value is(CmpFPredicate predicate, double limit) { return math.compare(predicate, x, limit); }
  Value scaled(double factor) {
    return factor == 0 ? zero() : factor == 1 ? gradient : math.mul(gradient, math.constant(factor));
  }
  Value clip(CmpFPredicate top) {
    return math.select(is(CmpFPredicate::OGT, alpha), math.select(is(top, beta), gradient, zero()), zero());
  }
  Value ofHardsigmoid(bool isHardswish);
  Value halfQuotient();
  /// Returns e and the square of 1 + e, where e is the exponential of a nonpositive argument.
  std::pair<Value, Value> exponential(TwoTerms minusMagnitude) {
    Value e = math.expOfNonpositive(minusMagnitude), sum = math.add(e, math.constant(1));
    return {e, math.mul(sum, sum)};
  }
  /// Emits e / (1 + e)².
  Value bell(TwoTerms minusMagnitude) {
    auto [e, square] = exponential(minusMagnitude);
    return math.div(e, square);
  }
  /// Emits σ + w·σ(1 - σ), the derivative of x·σ(z) with w = x·dz/dx; `magnitude` is |w|, and `negative` is true if z
  /// is.
  Value ofTimesSigmoid(TwoTerms minusZ, Value magnitude, Value negative) {
    auto [e, square] = exponential(minusZ);
    Value one = math.constant(1), n = math.select(negative, e, one),
          w = math.select(negative, math.negate(magnitude), magnitude);
    return math.div(math.mulAdd(w, e, math.mul(n, math.add(e, one))), square);
  }
  Value sigmoid();
  Value swish();
  Value geluTanh();
  Value geluErf();
  Value mish();

  OpBuilder &builder;
  Location loc;
  EltwiseMath math;
  double alpha, beta;
  Value x, gradient;
};

/// Emits σ(αx).
Value EltwiseBackwardEmitter::sigmoid() {
  if (alpha == 0)
    return math.constant(0.5);
  Value e = math.expOfNonpositive(math.minusMagnitude(x, alpha)), one = math.constant(1);
  Value negative = is(alpha > 0 ? CmpFPredicate::OLT : CmpFPredicate::OGT, 0);
  return math.div(math.select(negative, e, one), math.add(e, one));
}

Value EltwiseBackwardEmitter::swish() {
  if (alpha == 0)
    return math.constant(0.5);
  TwoTerms z = math.minusMagnitude(x, alpha);
  return ofTimesSigmoid(z, math.negate(z.high), is(alpha > 0 ? CmpFPredicate::OLT : CmpFPredicate::OGT, 0));
}

/// With z = x·(a + b·x²), x·dz/dx is x·(a + 3b·x²).
Value EltwiseBackwardEmitter::geluTanh() {
  GeluTanhArgument argument = emitGeluTanhArgument(math, x);
  constexpr double a = 1.5957691216057308, b = 0.07135481627260025;
  Value m = argument.magnitude;
  Value w = math.mul(m, math.mulAdd(math.mul(m, m), math.constant(3 * b), math.constant(a)));
  return ofTimesSigmoid(argument.minus, w, is(CmpFPredicate::OLT, 0));
}

/// Emits Φ(x) + x·φ(x). Φ is the tail T for negative x, 1 - T for positive x; T and φ share the factor exp(-x²/2).
Value EltwiseBackwardEmitter::geluErf() {
  NormalTail tail = emitNormalTail(math, x);
  Value density = math.mul(tail.magnitude, math.constant(std::numbers::inv_sqrtpi / std::numbers::sqrt2));
  Value bracket = math.mul(math.sub(density, math.mul(tail.series, tail.inverse)), tail.exp);
  return math.select(is(CmpFPredicate::OGT, 0), math.add(bracket, math.constant(1)), math.negate(bracket));
}

/// Emits n / d + 4x·p(p + q)q² / d² with n = p² + 2pq and d = n + 2q², where p : q = exp x : 1 and the larger of them
/// is 1.
Value EltwiseBackwardEmitter::mish() {
  TwoTerms minus = math.minusMagnitude(x, 1);
  Value e = math.expOfNonpositive(minus), one = math.constant(1), negative = is(CmpFPredicate::OLT, 0);
  Value p = math.select(negative, e, one), q = math.select(negative, one, e), twiceQ = math.add(q, q);
  Value bounded = math.select(negative, minus.high, math.negate(minus.high));
  Value n = math.mul(p, math.add(p, twiceQ)), d = math.mulAdd(twiceQ, q, n);
  Value slope = math.mul(math.mul(p, math.add(p, q)), math.mul(twiceQ, twiceQ));
  return math.div(math.mulAdd(bounded, slope, math.mul(n, d)), math.mul(d, d));
}

/// Emits gradient / (2x). Computing 2x could overflow, as could the quotient before it is halved; half of a tiny
/// gradient would lose bits.
Value EltwiseBackwardEmitter::halfQuotient() {
  Value half = math.constant(0.5), isTiny = math.compare(CmpFPredicate::OLT, math.abs(gradient), 0x1p-60);
  Value of = math.select(isTiny, gradient, math.mul(gradient, half));
  Value quotient = math.div(of, x);
  return math.select(isTiny, math.mul(quotient, half), quotient);
}

/// αx + β is computed with one rounding, so that its sign is exact.
Value EltwiseBackwardEmitter::ofHardsigmoid(bool isHardswish) {
  Value v = emitLinear(math, x, alpha, beta);
  Value positive = math.compare(CmpFPredicate::OGT, v, 0), below = math.compare(CmpFPredicate::OLT, v, 1);
  Value inside = isHardswish ? math.mul(gradient, emitLinear(math, x, 2 * alpha, beta)) : scaled(alpha);
  return math.select(positive, math.select(below, inside, isHardswish ? gradient : zero()), zero());
}

Value EltwiseBackwardEmitter::smooth(Alg alg) {
  auto one = [&] { return math.constant(1); };
  switch (alg) {
  case Alg::EltwiseTanh: {
    Value magnitude = math.abs(x);
    return math.mul(bell({math.negate(math.add(magnitude, magnitude)), Value()}), math.constant(4));
  }
  case Alg::EltwiseTanhDst:
    return math.mul(math.sub(one(), x), math.add(one(), x));
  case Alg::EltwiseSoftRelu:
    return sigmoid();
  case Alg::EltwiseLogistic:
    return bell({math.negate(math.abs(x)), Value()});
  case Alg::EltwiseLogisticDst:
    return math.mul(x, math.sub(one(), x));
  case Alg::EltwiseExp:
    return math::ExpOp::create(builder, loc, x);
  case Alg::EltwiseExpDst:
    return x;
  case Alg::EltwiseGeluTanh:
    return geluTanh();
  case Alg::EltwiseGeluErf:
    return geluErf();
  case Alg::EltwiseSwish:
    return swish();
  case Alg::EltwiseMish:
    return mish();
  case Alg::EltwisePow:
    return beta == 0 ? zero() : emitPower(math, x, alpha * beta, beta - 1);
  default:
    return Value();
  }
}

Value EltwiseBackwardEmitter::piecewise(Alg alg) {
  auto positive = [&] { return is(CmpFPredicate::OGT, 0); };
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return math.select(positive(), gradient, scaled(alpha));
  case Alg::EltwiseElu: {
    Value exp = math.expOfNonpositive({math.atMost(x, 0), Value()});
    return math.select(positive(), gradient, math.mul(gradient, math.mul(exp, math.constant(alpha))));
  }
  case Alg::EltwiseEluDst:
    return math.select(positive(), gradient, math.mul(gradient, math.add(x, math.constant(alpha))));
  case Alg::EltwiseAbs:
    return math.select(positive(), gradient, math.select(is(CmpFPredicate::OLT, 0), math.negate(gradient), zero()));
  case Alg::EltwiseHardsigmoid:
  case Alg::EltwiseHardswish:
    return ofHardsigmoid(alg == Alg::EltwiseHardswish);
  case Alg::EltwiseClip:
    return clip(CmpFPredicate::OLE);
  default:
    return clip(CmpFPredicate::OLT); // clip_v2, by src or dst
  }
}

Value EltwiseBackwardEmitter::emit(Alg alg) {
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
  case Alg::EltwiseElu:
  case Alg::EltwiseEluDst:
  case Alg::EltwiseAbs:
  case Alg::EltwiseHardsigmoid:
  case Alg::EltwiseHardswish:
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
    return piecewise(alg);
  case Alg::EltwiseLinear:
    return math.mul(gradient, math.constant(alpha));
  case Alg::EltwiseLog:
    return math.div(gradient, x);
  case Alg::EltwiseSqrt: {
    Value root = math.sqrt(x);
    return math.div(gradient, math.add(root, root));
  }
  case Alg::EltwiseSqrtDst:
    return halfQuotient();
  case Alg::EltwiseSquare: {
    Value product = math.mul(gradient, x);
    return math.add(product, product);
  }
  default:
    if (Value derivative = smooth(alg))
      return math.mul(gradient, derivative);
    return Value();
  }
}

} // namespace

Value emitEltwiseBackward(OpBuilder &builder, Location loc, Alg alg, float alpha, float beta, Value x, Value gradient) {
  return EltwiseBackwardEmitter(builder, loc, alpha, beta, x, gradient).emit(alg);
}

} // namespace quern
