//===- PostOps.h - Reference of scales and post-ops -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attributes of a primitive's results, for the references of all primitives: the source scale, dropout, the post-ops in
// order, and a division by the destination scale. In addition to the exact value, a chain computes the interval of
// results that values near the exact one can lead to. Errors can grow along a chain: exp turns an ulp of a large value
// into a large error, and a comparison or a rounding turns the smallest error into a jump. A fixed tolerance at the end
// of the chain would reject correct results and accept wrong ones. An interval that is propagated through the same
// functions avoids both; at a jump it includes both sides.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ATTRIBUTES_POSTOPS_H
#define QUERN_REFERENCE_ATTRIBUTES_POSTOPS_H

#include "Reference/Attributes/Dropout.h"

#include <limits>

namespace quern {

/// Returns the forward value of an eltwise algorithm as oneDNN 3.x defines it. The *_use_dst_for_bwd variants have the
/// same forward.
long double eltwise(Alg alg, float alpha, float beta, long double x);

/// Returns the value of a binary algorithm other than select, with one operation of `Real`. Comparisons give 1 or 0; a
/// minimum or maximum with NaN is y.
template <typename Real> Real binaryOf(Alg alg, Real x, Real y) {
  switch (alg) {
  case Alg::BinaryAdd:
    return x + y;
  case Alg::BinaryMul:
    return x * y;
  case Alg::BinaryMax:
    return x > y ? x : y;
  case Alg::BinaryMin:
    return x < y ? x : y;
  case Alg::BinaryDiv:
    return x / y;
  case Alg::BinarySub:
    return x - y;
  case Alg::BinaryGe:
    return x >= y;
  case Alg::BinaryGt:
    return x > y;
  case Alg::BinaryLe:
    return x <= y;
  case Alg::BinaryLt:
    return x < y;
  case Alg::BinaryEq:
    return x == y;
  case Alg::BinaryNe:
    return x != y;
  default:
    return std::numeric_limits<Real>::quiet_NaN();
  }
}

/// Like binaryOf(), but a minimum or maximum with NaN is NaN.
long double binary(Alg alg, long double x, long double y);

/// Returns the term that a post-op sum adds for an old value. Each operation rounds to `Real`.
template <typename Real> Real sumTerm(const PostOp &sum, double old) {
  Real term = static_cast<Real>(old);
  if (sum.zeroPoint != 0)
    term -= static_cast<Real>(sum.zeroPoint);
  return term * static_cast<Real>(sum.scale);
}

/// Returns the hull of eltwise() over the interval, without evaluation errors.
Interval eltwiseRange(Alg alg, float alpha, float beta, const Interval &x);
Interval binaryRange(Alg alg, const Interval &x, const Interval &y);

/// Scales, dropout and post-ops of one problem, with the tensors that they read. Positions are row-major over the dims
/// of the destination.
class AttributeChain {
public:
  /// Creates the chain, which computes in f64 if `isWide`, otherwise in f32. Fails if an input is missing (for a sum,
  /// the old `dst`), and for prelu.
  static Result<AttributeChain> make(const Attributes &attr, const TensorDesc &dst, const ReferenceInputs &inputs,
                                     bool isWide);

  bool isEmpty() const { return sourceScale == 1 && dstScale == 1 && dropped.kept.empty() && steps.empty(); }
  long double apply(int64_t position, long double value) const;
  /// Returns the results that an implementation may compute from any value of the interval. Each post-op may add an
  /// error of 8e-6 relative or, if greater, 2e-5 absolute; values beyond the largest finite one may become infinity.
  Interval range(int64_t position, Interval value) const;

private:
  struct Operand {
    TensorDesc desc;
    std::vector<double> values; ///< logical, row-major over the operand's dims, after scaling and shifting
    double error = 0;           ///< relative error of scaling and shifting in f32
    long double at(const TensorDesc &dst, int64_t position) const;
    Interval around(const TensorDesc &dst, int64_t position) const;
  };
  struct Step {
    PostOp op;
    Operand first, second;
  };

  Result<Operand> readOperand(const Attributes &attr, int32_t argument, const TensorDesc &desc,
                              const ReferenceInputs &inputs) const;

  Result<Operand> readOld(const PostOp &sum, const ReferenceInputs &inputs) const;

  TensorDesc dst;
  bool isWide = false;
  long double sourceScale = 1, dstScale = 1;
  DroppedElements dropped;
  std::vector<Step> steps;
};

} // namespace quern

#endif // QUERN_REFERENCE_ATTRIBUTES_POSTOPS_H
