//===- Uncertain.h - Numbers with the variance of their f32 errors --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A number is computed in double, together with the variance of the result of the same operations in f32, each of which
// rounds. Errors are assumed to be independent, so the variances of the terms of a sum and of its partial sums add up.
// Results of long chains of products and sums are therefore judged by the size of their terms, even if these cancel.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_UNCERTAIN_H
#define QUERN_REFERENCE_RNN_UNCERTAIN_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace quern::rnn {

struct Uncertain {
  double value = 0, variance = 0;

  constexpr Uncertain(double value = 0, double variance = 0) : value(value), variance(variance) {}
  double deviation() const { return std::sqrt(variance); }
};

/// Variance of rounding a number of size 1 to f32: a uniform error of at most half an ulp.
inline constexpr double varianceOfF32 = 0x1p-48 / 3;
/// Returns the distance between bf16 numbers of the size of x; 0 if x is a bf16 number and is not rounded.
inline double stepOfBf16(double x) {
  const auto single = static_cast<float>(x);
  const bool isExact = static_cast<double>(single) == x && (std::bit_cast<uint32_t>(single) & 0xffff) == 0;
  return isExact || !std::isfinite(x) ? 0 : std::ldexp(1.0, std::ilogb(x) - 7);
}

inline Uncertain inF32(double value, double variance) { return {value, variance + varianceOfF32 * value * value}; }
inline Uncertain operator+(const Uncertain &a, const Uncertain &b) {
  return inF32(a.value + b.value, a.variance + b.variance);
}
inline Uncertain operator-(const Uncertain &a, const Uncertain &b) {
  return inF32(a.value - b.value, a.variance + b.variance);
}
inline Uncertain operator*(const Uncertain &a, const Uncertain &b) {
  return inF32(a.value * b.value, a.value * a.value * b.variance + b.value * b.value * a.variance);
}
inline Uncertain &operator+=(Uncertain &a, const Uncertain &b) { return a = a + b; }

/// Functions are approximated, with an error of a few ulp.
inline Uncertain tanh(const Uncertain &x) {
  const double t = std::tanh(x.value), slope = 1 - t * t;
  return {t, slope * slope * x.variance + 16 * varianceOfF32 * t * t};
}

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_UNCERTAIN_H
