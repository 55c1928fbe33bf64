//===- Exact.cpp - References that round every operation ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reference/Exact.h"

#include "Primitives/Arguments.h"
#include "Reference/Attributes/PostOps.h"
#include "Reference/Attributes/Quantization.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace quern {
namespace {

/// Operations after the post-ops, rounded to the destination's type.
template <typename Real> class Ending {
public:
  Ending(std::function<Real(int64_t, Real)> after, DataType type) : after(std::move(after)), type(type) {}

  double at(int64_t position, Real x) const { return roundTo(type, static_cast<double>(beforeRounding(position, x))); }
  /// Returns the image of an interval. The function is monotone, except for divisions by 0 and for the sign, which e8m0
  /// drops. NaN remains NaN here even if the type does not have NaN.
  Interval at(int64_t position, const Interval &x) const {
    Interval image;
    auto include = [&](Real end) {
      Real value = beforeRounding(position, end);
      image.include(std::isnan(value) ? static_cast<double>(value) : roundTo(type, static_cast<double>(value)));
    };
    if (x.mayBeNan)
      include(std::numeric_limits<Real>::quiet_NaN());
    if (x.isEmpty())
      return image;
    include(static_cast<Real>(x.low));
    include(static_cast<Real>(x.high));
    if (x.low <= 0 && x.high >= 0)
      include(Real(0));
    return image;
  }

private:
  Real beforeRounding(int64_t position, Real x) const {
    if (after)
      x = after(position, x);
    if (type == DataType::S32 && sizeof(Real) == sizeof(float)) // the largest float that fits an s32
      x = std::min(x, static_cast<Real>(0x1p31 - 128));
    return x;
  }

  std::function<Real(int64_t, Real)> after;
  DataType type;
};

/// Returns the old values of dst as the first sum reads them; empty if there is no sum.
Result<std::vector<double>> readOld(const std::vector<PostOp> &postOps, const TensorDesc &dst,
                                    const ReferenceInputs &inputs) {
  for (const PostOp &sum : postOps) {
    if (sum.kind != PostOp::Kind::Sum)
      continue;
    QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::dst, dst));
    TensorDesc old = dst;
    old.dataType = sum.dataType == DataType::Undef ? old.dataType : sum.dataType;
    return gather(old, buffer);
  }
  return std::vector<double>();
}

/// Applies post-ops that are all sums. Adds the magnitudes of their terms to `size`.
template <typename Real>
Real withSums(const std::vector<PostOp> &sums, const std::vector<double> &old, size_t position, Real x, double &size) {
  for (const PostOp &sum : sums) {
    Real term = sumTerm<Real>(sum, old[position]);
    x += term;
    size += std::fabs(static_cast<double>(term));
  }
  return x;
}

} // namespace

template <typename Real>
Result<void> computeRounded(const RoundedFormula<Real> &formula, const Attributes &attr, const TensorDesc &dst,
                            const ReferenceInputs &inputs, ReferenceOutput &out) {
  Ending<Real> ending(formula.after, dst.dataType);
  QUERN_ASSIGN_OR_RETURN(DroppedElements dropped, readDropout(attr.dropout, dst, inputs));
  const auto dropout = [&](int64_t position, Real x) { return dropped.kept.empty() ? x : dropped.at(position, x); };
  const auto before = [&](int64_t position) { return dropout(position, formula.before(position)); };
  bool isSum = std::all_of(attr.postOps.begin(), attr.postOps.end(),
                           [](const PostOp &postOp) { return postOp.kind == PostOp::Kind::Sum; });
  out.criterion = Criterion::Value;
  if (isSum) {
    QUERN_ASSIGN_OR_RETURN(std::vector<double> old, readOld(attr.postOps, dst, inputs));
    out.beforeAttributes.resize(out.exact.size()), out.magnitude.resize(out.exact.size());
    for (size_t i = 0; i < out.exact.size(); ++i) {
      auto position = static_cast<int64_t>(i);
      const Real start = before(position);
      out.magnitude[i] = std::fabs(
          static_cast<double>(formula.size ? dropout(position, static_cast<Real>(formula.size(position))) : start));
      const Real x = withSums<Real>(attr.postOps, old, i, start, out.magnitude[i]);
      out.beforeAttributes[i] = static_cast<double>(x);
      out.exact[i] = ending.at(position, x);
    }
    out.ending = [ending](int64_t position, const Interval &start) { return ending.at(position, start); };
    return {};
  }
  Attributes postOpsOnly = attr;
  postOpsOnly.scales.erase(arg::src), postOpsOnly.scales.erase(arg::dst);
  postOpsOnly.dropout = {};
  QUERN_ASSIGN_OR_RETURN(AttributeChain made,
                         AttributeChain::make(postOpsOnly, dst, inputs, sizeof(Real) == sizeof(double)));
  auto chain = std::make_shared<const AttributeChain>(std::move(made));
  out.beforeAttributes.resize(out.exact.size());
  for (size_t i = 0; i < out.exact.size(); ++i) {
    auto position = static_cast<int64_t>(i);
    out.beforeAttributes[i] = static_cast<double>(before(position));
    out.exact[i] = ending.at(position, static_cast<Real>(chain->apply(position, out.beforeAttributes[i])));
  }
  out.range = [ending, chain](int64_t position, const Interval &start) {
    return ending.at(position, chain->range(position, start));
  };
  return {};
}

template Result<void> computeRounded<float>(const RoundedFormula<float> &, const Attributes &, const TensorDesc &,
                                            const ReferenceInputs &, ReferenceOutput &);
template Result<void> computeRounded<double>(const RoundedFormula<double> &, const Attributes &, const TensorDesc &,
                                             const ReferenceInputs &, ReferenceOutput &);

} // namespace quern
