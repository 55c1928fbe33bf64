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

#include <cmath>

namespace quern::rnn {

struct Uncertain {
  double value = 0, variance = 0;

  constexpr Uncertain(double value = 0, double variance = 0) : value(value), variance(variance) {}
  double deviation() const { return std::sqrt(variance); }
};

/// Of rounding a number of size 1 to the nearest: `unit`, the most that it is off by, spread evenly.
constexpr double varianceOfRounding(double unit) { return unit * unit / 3; }
inline constexpr double varianceOfF32 = varianceOfRounding(0x1p-24), varianceOfBf16 = varianceOfRounding(0x1p-9);

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
