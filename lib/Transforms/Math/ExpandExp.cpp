//===- ExpandExp.cpp - Expansion of exp, exp2, expm1 and tanh -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// exp(x) = 2^n · p(r), n the integer nearest to x / ln 2 and r = x − n·ln 2; the polynomials are minimax in relative
// error over |r| <= ln 2 / 2 (computed with a Remez exchange). On every level, n becomes an integer by adding 1.5·2^p
// to a float and reading its low bits.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Math/MathExpansions.h"

#include <array>
#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

constexpr double log2OfE = 1.44269504088896340736;

/// Constants of exp for a float type.
struct ExpConstants {
  double lowest, highest;  ///< exp is 0 below and infinite above
  double ln2High, ln2Low;  ///< n·ln2High is exact for every n
  ArrayRef<double> series; ///< (exp(r) − 1 − r) / r², highest power first, then 1, 1
};

// Relative error 4.2e-9 in exp.
constexpr double expSeriesF32[] = {
    0.001381489448f, 0.008368632756f, 0.04166837409f, 0.1666652113f, 0.4999999404f, 1.0, 1.0};
// Relative error 4.8e-18 in exp.
constexpr double expSeriesF64[] = {2.49993335235810364e-8,
                                   2.76299471615575523e-7,
                                   2.75575875238028457e-6,
                                   0.0000248014940354749696,
                                   0.000198412695070934806,
                                   0.00138888889426160662,
                                   0.00833333333349302666,
                                   0.0416666666665345617,
                                   0.166666666666664187,
                                   0.500000000000000999,
                                   1.0,
                                   1.0};

ExpConstants expConstants(bool isF32) {
  if (isF32)
    return {-104.0, 89.0, 0.693359375, -2.12194440e-4f, expSeriesF32};
  return {-746.0, 710.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10, expSeriesF64};
}

/// Clamps the argument so that the following steps stay in range.
Value clampExpArgument(VectorMath &math, Value x, bool nonpositive) {
  ExpConstants c = expConstants(math.isF32());
  x = math.atLeast(x, c.lowest);
  return nonpositive ? x : math.atMost(x, c.highest);
}

/// Computes p·2^n for n in the low bits of `bits`, biased by bias(). Two factors keep every intermediate normal, so a
/// denormal result is rounded once; for n <= 0 one of them can be a constant.
struct TwoStepScale {
  VectorMath &math;
  bool nonpositive;
  static constexpr int shift = 64;

  int64_t exponentBias() const { return math.isF32() ? 127 : 1023; }
  int64_t bias() const { return nonpositive ? exponentBias() + shift : 2 * exponentBias(); }
  Value power(Value biased) { return math.asFloat(math.shiftLeft(biased, math.mantissaBits())); }
  Value apply(Value p, Value bits) {
    if (nonpositive)
      return math.mul(math.mul(p, power(bits)), math.constant(std::ldexp(1.0, -shift)));
    Value first = math.shiftRight(bits, 1), second = math.shiftRight(math.addInt(bits, math.integer(1)), 1);
    return math.mul(math.mul(p, power(first)), power(second));
  }
};

/// n nearest to x·scale as a float, and the float whose low bits are n + bias.
struct Rounded {
  Value n, biased;
};
Rounded roundScaled(VectorMath &math, Value x, double scale, double bias) {
  double rounder = std::ldexp(1.5, math.mantissaBits()) + bias;
  Value biased =
      scale == 1 ? math.add(x, math.constant(rounder)) : math.mulAdd(x, math.constant(scale), math.constant(rounder));
  return {math.sub(biased, math.constant(rounder)), biased};
}

/// Returns x − n·ln 2.
Value reduceByLn2(VectorMath &math, Value x, Value n) {
  ExpConstants c = expConstants(math.isF32());
  Value r = math.mulAdd(n, math.constant(-c.ln2High), x);
  return math.mulAdd(n, math.constant(-c.ln2Low), r);
}

/// Returns exp(r) − 1 for |r| <= ln 2 / 2; only the last sum rounds at the magnitude of the result.
Value expM1Series(VectorMath &math, Value r) {
  const ArrayRef<double> series = expConstants(math.isF32()).series.drop_back(2);
  if (math.addsInPlace()) {
    Value square = math.mul(r, r);
    return math.mulAdd(square, math.polynomialByPairs(r, square, series), r);
  }
  Value q = math.polynomial(r, series);
  return math.mulAdd(math.mul(r, r), q, r);
}

/// Returns exp(r)·2^n. Without a fused multiply-add, Horner's last steps would round at the magnitude of the result;
/// with one that overwrites its addend, the series by pairs needs fewer copies.
Value expOfReduced(VectorMath &math, Value r, const Rounded &rounded, TwoStepScale scale) {
  Value p = math.hasFma() && !math.addsInPlace() ? math.polynomial(r, expConstants(math.isF32()).series)
                                                 : math.add(expM1Series(math, r), math.constant(1.0));
  return math.hasAvx512() ? math.scalef(p, rounded.n) : scale.apply(p, math.asInteger(rounded.biased));
}

/// Returns 2^(j/32) for j = 0 … 31.
std::array<float, 32> powersOfTwoTable() {
  std::array<float, 32> table;
  for (int j = 0; j < 32; ++j)
    table[j] = static_cast<float>(std::exp2(j / 32.0));
  return table;
}

} // namespace

Value expandExp(VectorMath &math, Value x, Value low, bool nonpositive) {
  TwoStepScale scale{math, nonpositive};
  x = clampExpArgument(math, x, nonpositive);
  Rounded rounded = roundScaled(math, x, log2OfE, math.hasAvx512() ? 0.0 : static_cast<double>(scale.bias()));
  Value r = reduceByLn2(math, x, rounded.n);
  return expOfReduced(math, low ? math.add(r, low) : r, rounded, scale);
}

/// exp(x) = 2^floor(m) · 2^(j/32) · (1 + r·(c1 + c2·r)), m = floor(m) + j/32 nearest to x / ln 2. The rounder's last
/// place is 1/32, so its low five bits are j; scalef floors m itself. One step of reduction is enough because f32
/// happens to represent ln 2 to 29 bits.
Value expandExpByTable(VectorMath &math, Value x, bool nonpositive) {
  x = clampExpArgument(math, x, nonpositive);
  Value rounder = math.constant(std::ldexp(1.5, math.mantissaBits() - 5));
  Value biased = math.mulAdd(x, math.constant(log2OfE), rounder);
  Value m = math.sub(biased, rounder);
  Value r = math.mulAdd(m, math.constant(-0.693147182464599609375), x);
  Value power = math.lookup32(powersOfTwoTable(), math.asInteger(biased));
  // Relative error 5.3e-8 over |r| <= ln 2 / 64.
  Value q = math.mul(math.mulAdd(r, math.constantF32(0.4999999106f), math.constantF32(1.000014663f)), r);
  return math.scalef(math.mulAdd(power, q, power), m);
}

/// The integer part is subtracted exactly; the rest is a power of e.
Value expandExp2(VectorMath &math, Value x) {
  TwoStepScale scale{math, /*nonpositive=*/false};
  x = math.atMost(math.atLeast(x, math.isF32() ? -151 : -1076), math.isF32() ? 129 : 1025);
  Rounded rounded = roundScaled(math, x, 1, math.hasAvx512() ? 0.0 : static_cast<double>(scale.bias()));
  return expOfReduced(math, math.mul(math.sub(x, rounded.n), math.constant(std::log(2.0))), rounded, scale);
}

/// Returns 2^n·(exp(r) − 1) + (2^n − 1). For x > 1 everything is halved until the last step, so that 2^n is finite
/// whenever the result is.
Value expandExpM1(VectorMath &math, Value x, bool nonpositive) {
  ExpConstants c = expConstants(math.isF32());
  Value lowered = math.atLeast(x, -40); // below this, the result is -1
  if (!nonpositive)
    lowered = math.atMost(lowered, c.highest);
  Rounded rounded = roundScaled(math, lowered, log2OfE, static_cast<double>(math.isF32() ? 127 : 1023));
  Value p = expM1Series(math, reduceByLn2(math, lowered, rounded.n));
  Value one = math.constant(1.0), bits = math.asInteger(rounded.biased);
  if (nonpositive) {
    Value power = math.asFloat(math.shiftLeft(bits, math.mantissaBits()));
    return math.mulAdd(power, p, math.sub(power, one));
  }
  Value unit = math.select(CmpFPredicate::OGT, x, one, math.constant(0.5), one);
  Value less = math.addInt(bits, math.integer(-1));
  Value halved = math.asFloat(math.shiftLeft(less, math.mantissaBits()));
  Value power = math.select(CmpFPredicate::OGT, x, one, halved, math.add(halved, halved));
  return math.mul(math.mulAdd(power, p, math.sub(power, unit)),
                  math.select(CmpFPredicate::OGT, x, one, math.constant(2.0), one));
}

/// tanh |x| = −t / (2 + t), t = exp(−2|x|) − 1.
Value expandTanh(VectorMath &math, Value x) {
  Value t = expandExpM1(math, math.mul(math.abs(x), math.constant(-2.0)), /*nonpositive=*/true);
  return math.copySign(math.div(t, math.add(t, math.constant(2.0))), x);
}

Value expandExpForF32(VectorMath &math, Value x) {
  Rounded rounded = roundScaled(math, x, log2OfE, 1023.0);
  Value p = math.polynomial(reduceByLn2(math, x, rounded.n), ArrayRef<double>(expSeriesF32));
  return math.mul(p, math.asFloat(math.shiftLeft(math.asInteger(rounded.biased), math.mantissaBits())));
}

} // namespace quern
