//===- Exact.h - Results whose every operation rounds --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An elementwise primitive is a few operations, each rounded to f32 (f64 if a tensor is f64) in the order of its
// formula. Computed with those very operations the expected result is exact, sums included. Eltwise and binary post-ops
// make an interval of it, which the operations behind are applied to.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_EXACT_H
#define QUERN_REFERENCE_EXACT_H

#include "Reference/Reference.h"

namespace quern {

/// The operations of a formula around its post-ops, by element of the destination (row-major), in the arithmetic
/// of `Real`, float or double.
template <typename Real> struct RoundedFormula {
  std::function<Real(int64_t position)> before;
  /// The size of the terms behind `before`; null: that of its result.
  std::function<double(int64_t position)> size;
  /// From the value behind the post-ops to the one that is rounded to the destination's type; null: nothing. Monotone
  /// but where it divides by 0. The result keeps it.
  std::function<Real(int64_t position, Real value)> after;
};

/// Fills `out`, whose `exact` has the size of dst: the formula with the dropout and post-ops of `attr`, of
/// which no other attribute is looked at, rounded to dst's type. `unimplemented` for prelu,
/// `invalid_arguments` for a missing input.
template <typename Real>
Result<void> computeRounded(const RoundedFormula<Real> &formula, const Attributes &attr, const TensorDesc &dst,
                            const ReferenceInputs &inputs, ReferenceOutput &out);

extern template Result<void> computeRounded<float>(const RoundedFormula<float> &, const Attributes &,
                                                   const TensorDesc &, const ReferenceInputs &, ReferenceOutput &);
extern template Result<void> computeRounded<double>(const RoundedFormula<double> &, const Attributes &,
                                                    const TensorDesc &, const ReferenceInputs &, ReferenceOutput &);

} // namespace quern

#endif // QUERN_REFERENCE_EXACT_H
