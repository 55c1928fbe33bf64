//===- ErrorBounds.h - Propagation of rounding differences ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A state near the midpoint of two values may be stored as either. If the inputs of a step differ from the reference's
// by a bounded amount, the slopes of the step's equations bound the difference of its results: the cells of Cells.cpp
// are also computed with numbers that carry such a bound.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_ERRORBOUNDS_H
#define QUERN_REFERENCE_RNN_ERRORBOUNDS_H

#include "Reference/Rnn/Cells.h"

#include <algorithm>
#include <cmath>

namespace quern::rnn {

/// A number, and the greatest difference from it; not negative.
struct Bounded {
  double value = 0, off = 0;
};
inline double valueOf(double x) { return x; }
inline double valueOf(const Bounded &x) { return x.value; }

inline Bounded operator+(const Bounded &a, const Bounded &b) { return {a.value + b.value, a.off + b.off}; }
inline Bounded operator*(const Bounded &a, const Bounded &b) {
  return {a.value * b.value, std::fabs(a.value) * b.off + std::fabs(b.value) * a.off + a.off * b.off};
}
/// Multiplies by an exact factor, which may be infinite if there is no difference.
inline Bounded operator*(const Bounded &a, double factor) {
  return {a.value * factor, a.off > 0 ? a.off * std::fabs(factor) : 0};
}
inline Bounded tanh(const Bounded &a) {
  const double t = std::tanh(a.value);
  return {t, std::min({a.off, (1 - t * t) * std::expm1(2 * a.off) / 2, 2.0})};
}
/// Returns the sigmoid of a number with this difference; its value is `g`. The slope g (1 - g) is at most 1/4 and grows
/// by at most exp(off).
inline Bounded sigmoidOf(double g, double off) { return {g, std::min({off / 4, g * (1 - g) * std::expm1(off), 1.0})}; }

/// Greatest difference of each number that a step reads from CellInputs; not negative.
struct InputErrorBounds {
  std::span<const double> x, h, c; ///< c is empty unless the cell is an LSTM
};

/// Returns the greatest difference of the results h, c, gates, hiddenSums and unprojected, without arithmetic errors,
/// for all inputs within `off` of `in` and any rounding within the step.
CellOutputs errorBoundsOf(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                          const CellInputs &in, const InputErrorBounds &off);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_ERRORBOUNDS_H
