//===- Uncertain.h - Numbers that know how exact f32 makes them -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A number is computed in double; beside it stands the variance of what the same operations in f32 make of it, each of
// which rounds: errors are taken for independent, so that those of a sum add as squares, as do those of its partial
// sums. What comes of a long chain of products and sums is thus judged by the terms behind it, whatever cancels.
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

/// Of rounding a number of size 1 to f32: an even error, of half a unit in the last place at most.
inline constexpr double varianceOfF32 = 0x1p-48 / 3;
/// Between a number of bf16 of the size of x and the next; 0 where x is one, and nothing is rounded.
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

/// Functions are approximated, to a few units.
inline Uncertain tanh(const Uncertain &x) {
  const double t = std::tanh(x.value), slope = 1 - t * t;
  return {t, slope * slope * x.variance + 16 * varianceOfF32 * t * t};
}

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_UNCERTAIN_H
