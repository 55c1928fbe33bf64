//===- EltwiseFunctions.cpp - Derivatives of the eltwise functions -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Formulas of oneDNN's page that overflow are replaced by equal ones that do not: for large arguments the derivative is
// its limit.
//
//===----------------------------------------------------------------------===//
#include "Reference/EltwiseFunctions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quern {
namespace {

using Real = long double;
constexpr Real sqrt2 = std::numbers::sqrt2_v<Real>, pi = std::numbers::pi_v<Real>;

Derivative exactly(Real value) { return {value, std::fabs(value), value}; }

/// Returns a constant derivative that a comparison selects. If it is 0, the gradient is blocked.
Derivative factor(Real value) { return {value, std::fabs(value), value, value == 0}; }

/// Returns a sum of two terms.
Derivative sumOf(Real a, Real b) { return {a + b, std::fabs(a) + std::fabs(b), a + b}; }

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }

/// Returns x·y, where y goes to 0 faster than x grows.
Real vanishing(Real x, Real y) { return y == 0 ? 0 : x * y; }

/// Returns σ(z)·(1 - σ(z)) = 1 / (e^(z/2) + e^(-z/2))².
Real bell(Real z) { return 1 / (2 + std::exp(z) + std::exp(-z)); }

/// Returns the derivative of x·σ(z(x)) with z' = dz / dx: σ(z) + x z' σ(z)(1 - σ(z)), as in gelu_tanh and swish.
Derivative ofTimesLogistic(Real x, Real z, Real slope) { return sumOf(logistic(z), vanishing(x * slope, bell(z))); }

Derivative geluTanh(Real x) {
  const Real a = 2 * std::sqrt(2 / pi), b = 0.044715L;
  return ofTimesLogistic(x, a * x * (1 + b * x * x), a * (1 + 3 * b * x * x));
}

/// Returns Φ(x) + x·φ(x), with the normal distribution and its density.
Derivative geluErf(Real x) {
  return sumOf(std::erfc(-x / sqrt2) / 2, vanishing(x, std::exp(-x * x / 2)) / std::sqrt(2 * pi));
}

/// Returns tanh(s) + x·(1 - tanh²(s))·σ(x) with s = log(1 + e^x). With u = e^x, tanh(s) is n / (n + 2), n = u² + 2u.
Derivative mish(Real x) {
  if (x > 100)
    return exactly(1);
  const Real u = std::exp(x), n = u * (u + 2), d = n + 2;
  return sumOf(n / d, vanishing(x, 4 * u * (u + 1) / (d * d)));
}

/// Returns `inside` if 0 < αx + β < 1, otherwise `below` or `above`.
Derivative ofHardsigmoid(Real x, Real alpha, Real beta, Derivative inside, Real below, Real above, Real epsilon) {
  // An argument that the arithmetic cannot distinguish from 0 counts as 0.
  const Real denormalError = epsilon > 1e-10L ? 0x1p-148L : 0x1p-1073L;
  const Real v = alpha * x + beta, off = 2 * epsilon * (std::fabs(alpha * x) + std::fabs(beta)) +
                                         std::max<Real>(1, std::fabs(alpha)) * denormalError;
  Derivative result = v > 0 && v < 1 ? inside : factor(v >= 1 ? above : below);
  for (auto [limit, outside] : {std::pair<Real, Real>(0, below), std::pair<Real, Real>(1, above)})
    if (std::isfinite(v) && std::fabs(v - limit) <= off)
      result.isJump = true, result.isBlocked = false, result.other = result.value == outside ? inside.value : outside;
  return result;
}

/// Returns αβ·x^(β - 1). The error of rounding the exponent grows with log x.
Derivative power(Real x, Real alpha, Real beta) {
  if (beta == 0)
    return exactly(0);
  const Real value = alpha * beta * std::pow(x, beta - 1), absLog = std::fabs(std::log(std::fabs(x)));
  return {value, std::fabs(value) * (1 + (std::isfinite(absLog) ? absLog / 10 : 0)), value};
}

} // namespace

Derivative eltwiseDerivative(Alg alg, float alpha, float beta, long double x, long double epsilon) {
  const Real a = alpha, b = beta;
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return factor(x > 0 ? 1 : a);
  case Alg::EltwiseTanh: // 1 - tanh²(x)
    return exactly(4 * bell(2 * x));
  case Alg::EltwiseTanhDst:
    return exactly((1 - x) * (1 + x));
  case Alg::EltwiseElu:
    return exactly(x > 0 ? 1 : a * std::exp(x));
  case Alg::EltwiseEluDst:
    return exactly(x > 0 ? 1 : x + a);
  case Alg::EltwiseSquare:
    return exactly(2 * x);
  case Alg::EltwiseAbs:
    return factor(x > 0 ? 1 : x < 0 ? -1 : 0);
  case Alg::EltwiseSqrt:
    return exactly(1 / (2 * std::sqrt(x)));
  case Alg::EltwiseSqrtDst:
    return exactly(1 / (2 * x));
  case Alg::EltwiseLinear:
    return exactly(a);
  case Alg::EltwiseSoftRelu:
    return exactly(a == 0 ? 0.5L : logistic(a * x));
  case Alg::EltwiseHardsigmoid:
    return ofHardsigmoid(x, a, b, factor(a), 0, 0, epsilon);
  case Alg::EltwiseHardswish:
    return ofHardsigmoid(x, a, b, sumOf(2 * a * x, b), 0, 1, epsilon);
  case Alg::EltwiseLogistic:
    return exactly(bell(x));
  case Alg::EltwiseLogisticDst:
    return exactly(x * (1 - x));
  case Alg::EltwiseExp:
    return exactly(std::exp(x));
  case Alg::EltwiseExpDst:
    return exactly(x);
  case Alg::EltwiseGeluTanh:
    return geluTanh(x);
  case Alg::EltwiseGeluErf:
    return geluErf(x);
  case Alg::EltwiseSwish:
    return a == 0 ? exactly(0.5L) : ofTimesLogistic(x, a * x, a);
  case Alg::EltwiseMish:
    return mish(x);
  case Alg::EltwiseLog:
    return exactly(1 / x);
  case Alg::EltwiseClip:
    return factor(a < x && x <= b ? 1 : 0);
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
    return factor(a < x && x < b ? 1 : 0);
  case Alg::EltwisePow:
    return power(x, a, b);
  default:
    return exactly(std::numeric_limits<Real>::quiet_NaN());
  }
}

} // namespace quern
