//===- Kept.h - Rounding of stored numbers in RNN references --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Between products, numbers are stored as states and read as factors, which may round them to a narrower type. There is
// one model for each number type: with the variance of the error (Uncertain), with the roundings of f32 (float), or
// with one drawn outcome (double).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_KEPT_H
#define QUERN_REFERENCE_RNN_KEPT_H

#include "Reference/Elements.h"
#include "Reference/Rnn/Uncertain.h"
#include "Reference/TestData/TestValues.h"

#include <algorithm>
#include <bit>

namespace quern::rnn {

/// Range of values that a state may be stored as.
struct StateRange {
  double low, high;
};
inline StateRange stateRangeOf(DataType type, const Uncertain &h) {
  if (type == DataType::F32 || type == DataType::F64)
    return {h.value, h.value};
  constexpr double deviations = 6;
  const double off = deviations * h.deviation();
  return {roundTo(type, h.value - off), roundTo(type, h.value + off)};
}

/// Types in which a kernel stores states and reads the factors of products.
class KeptTypes {
public:
  KeptTypes(DataType state, bool roundsOperands)
      : type(state), roundsOperands(roundsOperands), roundsGradients(roundsOperands || state == DataType::BF16) {}

protected:
  DataType type;
  bool roundsOperands, roundsGradients; ///< to bf16
};

/// Models how a kernel stores states and reads the factors of products: unmodified, or rounded to a narrower type.
template <typename Number> class Kept;

template <> class Kept<Uncertain> : public KeptTypes {
public:
  Kept(DataType state, bool roundsOperands, uint64_t, bool) : KeptTypes(state, roundsOperands) {}

  /// Returns a stored state. Near the midpoint of two representable values, a kernel may store either.
  Uncertain state(const Uncertain &h) const {
    if (type == DataType::F32 || type == DataType::F64)
      return h;
    const StateRange range = stateRangeOf(type, h);
    if (range.low == range.high)
      return roundTo(type, h.value);
    const double subnormal = type == DataType::F16 ? 0x1p-24 : 0x1p-133;
    const double step = std::max(epsilonOf(type) * std::fabs(h.value), subnormal);
    return {roundTo(type, h.value), h.variance + step * step};
  }
  Uncertain operand(const Uncertain &x) const { return roundsOperands ? rounded(x) : x; }
  Uncertain gradient(const Uncertain &d) const { return roundsGradients ? rounded(d) : d; }
  void add(Uncertain &sum, const Uncertain &term) const { sum += term; }

private:
  static Uncertain rounded(const Uncertain &x) {
    const double step = stepOfBf16(x.value);
    return {x.value, x.variance + step * step / 12};
  }
};

template <> class Kept<float> : public KeptTypes {
public:
  Kept(DataType state, bool roundsOperands, uint64_t, bool) : KeptTypes(state, roundsOperands) {}

  float state(float h) const { return rounded(type, h); }
  float operand(float x) const { return roundsOperands ? rounded(DataType::BF16, x) : x; }
  float gradient(float d) const { return roundsGradients ? rounded(DataType::BF16, d) : d; }
  void add(float &sum, float term) const { sum += term; }

private:
  static float rounded(DataType type, float x) { return static_cast<float>(roundTo(type, static_cast<double>(x))); }
};

/// One outcome of rounding to bf16. A rounded number is off by a fraction of a step, which is derived from the number
/// and the draw and is therefore the same at every read.
template <> class Kept<double> : public KeptTypes {
public:
  Kept(DataType state, bool roundsOperands, uint64_t draw, bool isAwayFrom0)
      : KeptTypes(state, roundsOperands), draw(draw), isAwayFrom0(isAwayFrom0) {}

  double state(double h) const { return type == DataType::F32 || type == DataType::F64 ? h : roundTo(type, h); }
  /// Near the midpoint of two values, draws alternate between them.
  double state(const Uncertain &h) const {
    const StateRange range = stateRangeOf(type, h);
    return (testdata::mix(std::bit_cast<uint64_t>(h.value)) + draw) % 2 ? range.low : range.high;
  }
  double operand(double x) const { return roundsOperands ? x + stepOfBf16(x) * part(x) : x; }
  double gradient(double d) const { return roundsGradients ? d + stepOfBf16(d) * part(d) : d; }
  /// Returns a number with a drawn error of f32 arithmetic. If gradients are rounded to bf16, the error is negligible
  /// and is omitted.
  double computed(const Uncertain &x) const {
    return roundsGradients ? x.value : x.value + x.deviation() * std::sqrt(12.0) * part(x.value);
  }

  /// Adds a term to a sum over steps. Its rounding matters only if all roundings have the same direction.
  void add(double &sum, double term) const { sum = (sum + term) * (isAwayFrom0 ? 1 + 0x1p-25 : 1); }

private:
  /// Returns the error as a fraction of a step, from -1/2 to 1/2; odd in x.
  double part(double x) const {
    if (isAwayFrom0)
      return std::copysign(0.5, x);
    const uint64_t bits = testdata::mix(std::bit_cast<uint64_t>(std::fabs(x)) + draw);
    const double drawn = static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
    return x < 0 ? -drawn : drawn;
  }

  uint64_t draw;
  bool isAwayFrom0;
};

/// A sum of products.
template <typename Number> class Sum {
public:
  void add(const Number &a, const Number &b) {
    sum += a * b;
    if constexpr (std::is_same_v<Number, double>)
      squares += sum * sum;
  }
  Number rounded(const Kept<Number> &kept) const {
    if constexpr (std::is_same_v<Number, double>)
      return kept.computed({sum, squares * varianceOfF32});
    else
      return sum;
  }

private:
  Number sum{};
  double squares = 0; ///< sum of the squared partial sums
};

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_KEPT_H
