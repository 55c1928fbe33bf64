//===- ExpandLog.cpp - Expansion of log, log2 and log1p -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// log(x) = e·ln 2 + log(m), m in [√½, √2), by the series in s = f / (2 + f), f = m − 1, with the
// coefficients of Sun's fdlibm.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Math/MathExpansions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

MantissaExponent splitByGetexp(VectorMath &math, Value x) {
  Value e = math.getExponent(x), m = math.getMantissa(x), root = math.constant(std::sqrt(2.0));
  Value half = math.mul(m, math.constant(0.5)), next = math.add(e, math.constant(1.0));
  return {math.select(CmpFPredicate::OGT, m, root, half, m), math.select(CmpFPredicate::OGT, m, root, next, e)};
}

/// Like splitByGetexp(), but by integer arithmetic: with the exponent's boundary moved to √½, one shift returns e.
/// Denormals are scaled up first.
MantissaExponent splitByBits(VectorMath &math, Value x, bool mayBeDenormal) {
  bool isF32 = math.isF32();
  int bits = math.mantissaBits(), lift = bits + 2;
  int64_t oneBits = isF32 ? 0x3f800000 : 0x3ff0000000000000, rootBits = isF32 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  Value adjust;
  if (mayBeDenormal) {
    Value normal = math.constant(isF32 ? 0x1p-126 : 0x1p-1022);
    Value lifted = math.mul(x, math.constant(std::ldexp(1.0, lift)));
    adjust = math.select(CmpFPredicate::OLT, x, normal, math.constant(-lift), math.constant(0.0));
    x = math.select(CmpFPredicate::OLT, x, normal, lifted, x);
  }
  Value moved = math.addInt(math.asInteger(x), math.integer(oneBits - rootBits));
  // An integer below 2^bits is converted to a float by setting the exponent of 2^bits.
  double power = std::ldexp(1.0, bits);
  int64_t powerBits = isF32 ? 0x4b000000 : 0x4330000000000000;
  Value e = math.asFloat(math.orInt(math.shiftRight(moved, bits), math.integer(powerBits)));
  e = math.sub(e, math.constant(power + (isF32 ? 127 : 1023)));
  Value fraction = math.andInt(moved, math.integer((int64_t(1) << bits) - 1));
  return {math.asFloat(math.addInt(fraction, math.integer(rootBits))), adjust ? math.add(e, adjust) : e};
}

constexpr double logTermsF32[] = {0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693};
constexpr double logTermsF64[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                  2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                  6.666666666666735130e-01};

/// Emits (log(1 + f) − f + f²/2) / s − f²/2 as a function of z = s², with an error below 2^-58 (f64) or 2^-34 (f32).
Value logSeries(VectorMath &math, Value z) {
  return math.mul(z, math.polynomial(z, math.isF32() ? ArrayRef<double>(logTermsF32) : ArrayRef<double>(logTermsF64)));
}

/// log(1 + f) = f − (halfSquare − tail).
struct LogParts {
  Value f, halfSquare, tail;
};

/// Returns the parts of log m = f - (halfSquare - tail). `addend` is added to `tail`; null is zero.
LogParts logOfMantissa(VectorMath &math, Value m, Value addend) {
  Value f = math.sub(m, math.constant(1.0)), s = math.div(f, math.add(f, math.constant(2.0)));
  Value halfSquare = math.mul(math.mul(f, f), math.constant(0.5));
  Value inner = math.add(halfSquare, logSeries(math, math.mul(s, s)));
  return {f, halfSquare, addend ? math.mulAdd(s, inner, addend) : math.mul(s, inner)};
}

struct Ln2 {
  double high, low;
};
Ln2 ln2Of(bool isF32) {
  if (isF32)
    return {6.9313812256e-01f, 9.0580006145e-06f};
  return {6.93147180369123816490e-01, 1.90821492927058770002e-10};
}

/// Returns `result` except for special values: infinity, `zero` (the argument at which the logarithm is -infinity),
/// values below it and NaN.
Value withSpecials(VectorMath &math, Value result, Value x, double zero) {
  Value limit = math.constant(infinity), root = math.constant(zero);
  result = math.select(CmpFPredicate::OEQ, x, limit, limit, result);
  result = math.select(CmpFPredicate::OEQ, x, root, math.constant(-infinity), result);
  return math.select(CmpFPredicate::ULT, x, root, math.constant(std::numeric_limits<double>::quiet_NaN()), result);
}

/// Returns e·ln 2 + log(m) + addend.
Value logOfParts(VectorMath &math, MantissaExponent parts, Value addend) {
  Ln2 ln2 = ln2Of(math.isF32());
  Value low = addend ? math.mulAdd(parts.e, math.constant(ln2.low), addend) : math.mul(parts.e, math.constant(ln2.low));
  auto [f, halfSquare, tail] = logOfMantissa(math, parts.m, low);
  return math.mulAdd(parts.e, math.constant(ln2.high), math.sub(f, math.sub(halfSquare, tail)));
}

} // namespace

MantissaExponent splitFloat(VectorMath &math, Value x, bool mayBeDenormal) {
  return math.hasAvx512() ? splitByGetexp(math, x) : splitByBits(math, x, mayBeDenormal);
}

Value expandLog(VectorMath &math, Value x) {
  return withSpecials(math, logOfParts(math, splitFloat(math, x, /*mayBeDenormal=*/true), Value()), x, 0.0);
}

Value expandLog2(VectorMath &math, Value x) {
  MantissaExponent parts = splitFloat(math, x, /*mayBeDenormal=*/true);
  auto [f, halfSquare, tail] = logOfMantissa(math, parts.m, Value());
  Value log = math.sub(f, math.sub(halfSquare, tail));
  return withSpecials(math, math.mulAdd(log, math.constant(1.44269504088896340736), parts.e), x, 0.0);
}

/// Returns log(u) + c / u, where u = 1 + x rounded and c is the rounding error. This is also accurate for tiny x:
/// log(1) + x / 1.
Value expandLog1p(VectorMath &math, Value x) {
  Value one = math.constant(1.0), u = math.add(x, one);
  // Exact for |x| <= 1 and, above, wherever it affects the result.
  Value roundingError =
      math.select(CmpFPredicate::OLT, x, one, math.sub(x, math.sub(u, one)), math.sub(one, math.sub(u, x)));
  Value result = logOfParts(math, splitFloat(math, u, /*mayBeDenormal=*/false), math.div(roundingError, u));
  return withSpecials(math, result, x, -1.0);
}

Value expandLogForF32(VectorMath &math, Value x) {
  MantissaExponent parts = splitFloat(math, x, /*mayBeDenormal=*/false);
  Value f = math.sub(parts.m, math.constant(1.0)), s = math.div(f, math.add(f, math.constant(2.0))), z = math.mul(s, s);
  Value series = math.mulAdd(z, math.polynomial(z, ArrayRef<double>(logTermsF32)), math.constant(2.0));
  return math.mulAdd(parts.e, math.constant(std::log(2.0)), math.mul(s, series));
}

} // namespace quern
