//===- Exact.h - References that round every operation --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An elementwise primitive consists of a few operations, each rounded to f32 (f64 if a tensor is f64) in the order of
// its formula. The reference performs the same operations, so the expected result is exact, even with sums. Eltwise and
// binary post-ops turn it into an interval, to which the operations after them are applied.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_EXACT_H
#define QUERN_REFERENCE_EXACT_H

#include "Reference/Reference.h"

namespace quern {

/// Operations of a formula before and after its post-ops, for an element of the destination (row-major), in the
/// arithmetic of `Real`, float or double.
template <typename Real> struct RoundedFormula {
  std::function<Real(int64_t position)> before;
  /// Returns the magnitude of the terms of `before`; null: use the magnitude of its result.
  std::function<double(int64_t position)> size;
  /// Maps the value after the post-ops to the value that is rounded to the destination's type; null: identity.
  /// Monotone, except where it divides by 0. The ReferenceOutput keeps a copy of the function.
  std::function<Real(int64_t position, Real value)> after;
};

/// Computes the formula with the dropout and post-ops of `attr` (other attributes are ignored), rounded to dst's type,
/// into `out`, whose `exact` must have the size of dst. Fails with `unimplemented` for prelu and with
/// `invalid_arguments` if an input is missing.
template <typename Real>
Result<void> computeRounded(const RoundedFormula<Real> &formula, const Attributes &attr, const TensorDesc &dst,
                            const ReferenceInputs &inputs, ReferenceOutput &out);

extern template Result<void> computeRounded<float>(const RoundedFormula<float> &, const Attributes &,
                                                   const TensorDesc &, const ReferenceInputs &, ReferenceOutput &);
extern template Result<void> computeRounded<double>(const RoundedFormula<double> &, const Attributes &,
                                                    const TensorDesc &, const ReferenceInputs &, ReferenceOutput &);

} // namespace quern

#endif // QUERN_REFERENCE_EXACT_H
