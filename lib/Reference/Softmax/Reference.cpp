//===- Reference.cpp - Reference of softmax -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Forward is y = exp(x - max) / sum exp(x - max), or its logarithm (x - max) - ln sum exp(x - max), along one axis.
// Backward is ds = y (dy - sum dy y), or for the logarithm ds = dy - exp(y) sum dy. A row with NaN or +inf gives NaN,
// and so does a row of only -inf, except that accurate_inf_as_zero gives zeros for it. Forward continues with the
// source scale, post-ops and destination scale (Attributes/PostOps.h).
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Reference/Attributes/PostOps.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace quern {
namespace {

/// One line of elements along the axis, within row-major logical values.
struct Row {
  int64_t start, length, step;
  size_t at(int64_t i) const { return static_cast<size_t>(start + i * step); }
};

std::vector<Row> rowsOf(const TensorDesc &desc, int axis) {
  int64_t inner = 1, outer = 1, length = desc.dims[axis];
  for (int dim = 0; dim < desc.ndims; ++dim)
    (dim < axis ? outer : dim > axis ? inner : length) *= dim == axis ? 1 : desc.dims[dim];
  std::vector<Row> rows;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      rows.push_back({o * length * inner + i, length, inner});
  return rows;
}

template <typename Real> void forwardRow(const Row &row, Alg alg, const std::vector<double> &x, ReferenceOutput &y) {
  Real maximum = -std::numeric_limits<Real>::infinity();
  for (int64_t i = 0; i < row.length; ++i)
    maximum = std::isnan(x[row.at(i)]) || x[row.at(i)] > maximum ? static_cast<Real>(x[row.at(i)]) : maximum;
  bool allMinusInfinity = std::isinf(maximum) && maximum < 0;

  Real sum = 0;
  for (int64_t i = 0; i < row.length; ++i)
    sum += std::exp(static_cast<Real>(x[row.at(i)]) - maximum);

  Real squares = 0;
  for (int64_t i = 0; i < row.length; ++i) {
    Real shifted = static_cast<Real>(x[row.at(i)]) - maximum;
    Real value = alg == Alg::SoftmaxLog ? shifted - std::log(sum) : std::exp(shifted) / sum;
    if (alg == Alg::SoftmaxAccurateInfAsZero && allMinusInfinity)
      value = 0;
    y.exact[row.at(i)] = static_cast<double>(value);
    squares += std::isfinite(value) ? value * value : 0;
  }
  // Errors of a logarithm are relative to 1: a relative error of the sum is an absolute error of its logarithm.
  for (int64_t i = 0; i < row.length; ++i)
    y.magnitude[row.at(i)] = alg == Alg::SoftmaxLog ? 1 : static_cast<double>(std::sqrt(squares));
}

/// Smallest normal number of the arithmetic under test: f64 if the reference computes in long double, otherwise f32.
template <typename Real> constexpr Real minNormal = sizeof(Real) > sizeof(double) ? Real(0x1p-1022) : Real(0x1p-126);

template <typename Real>
void backwardRow(const Row &row, Alg alg, const std::vector<double> &y, const std::vector<double> &dy,
                 ReferenceOutput &ds) {
  bool isLog = alg == Alg::SoftmaxLog;
  Real sum = 0, terms = 0;
  for (int64_t i = 0; i < row.length; ++i) {
    Real term = static_cast<Real>(dy[row.at(i)]) * (isLog ? 1 : static_cast<Real>(y[row.at(i)]));
    sum += term;
    // A denormal product has the absolute rounding error of the smallest normal number.
    terms += isLog || term == 0 ? std::fabs(term) : std::max(std::fabs(term), minNormal<Real>);
  }
  for (int64_t i = 0; i < row.length; ++i) {
    Real d = y[row.at(i)], dd = dy[row.at(i)], weight = isLog ? std::exp(d) : d;
    ds.exact[row.at(i)] = static_cast<double>(isLog ? dd - weight * sum : d * (dd - sum));
    ds.magnitude[row.at(i)] =
        static_cast<double>((isLog ? std::fabs(dd) : std::fabs(d * dd)) + std::fabs(weight) * terms);
  }
}

Result<std::vector<double>> input(const ReferenceInputs &inputs, int32_t argument, const char *name,
                                  const TensorDesc &desc) {
  auto found = inputs.find(argument);
  if (desc.isZero() || !desc.isBlockedFormat() || desc.hasRuntimeDims())
    return invalidArguments("softmax reference: the layout of ", name, " is not resolved");
  if (found == inputs.end() || (!found->second && !desc.hasZeroDim()))
    return invalidArguments("softmax reference: no buffer for ", name, " (argument ", argument, ")");
  return gather(desc, found->second);
}

/// Applies the attributes to the results, and sets the values and the function that the judge needs.
Result<void> applyAttributes(const Attributes &attr, const ReferenceInputs &inputs, bool isWide, ReferenceOutput &out) {
  QUERN_ASSIGN_OR_RETURN(AttributeChain made, AttributeChain::make(attr, out.desc, inputs, isWide));
  if (made.isEmpty())
    return {};
  auto chain = std::make_shared<const AttributeChain>(std::move(made));
  out.beforeAttributes = out.exact;
  for (size_t i = 0; i < out.exact.size(); ++i)
    out.exact[i] = static_cast<double>(chain->apply(static_cast<int64_t>(i), out.exact[i]));
  out.range = [chain](int64_t position, const Interval &start) { return chain->range(position, start); };
  return {};
}

template <typename Real> Result<ReferenceOutput> compute(const SoftmaxDesc &op, const ReferenceInputs &inputs) {
  bool forward = isForward(op.prop);
  ReferenceOutput out{forward ? arg::dst : arg::diffSrc, forward ? op.dst : op.diffSrc, {}};
  Result<std::vector<double>> first =
      forward ? input(inputs, arg::src, "src", op.src) : input(inputs, arg::dst, "dst", op.dst);
  if (!first)
    return first.takeError();
  Result<std::vector<double>> second = std::vector<double>();
  if (!forward)
    second = input(inputs, arg::diffDst, "diff_dst", op.diffDst);
  if (!second)
    return second.takeError();
  out.exact.resize(first->size());
  out.magnitude.resize(first->size());
  if (out.desc.hasZeroDim())
    return out;
  for (const Row &row : rowsOf(out.desc, op.axis))
    forward ? forwardRow<Real>(row, op.alg, *first, out) : backwardRow<Real>(row, op.alg, *first, *second, out);
  return out;
}

} // namespace

Result<std::vector<ReferenceOutput>> computeSoftmaxReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const SoftmaxDesc &op = std::get<SoftmaxDesc>(desc.op);
  const TensorDesc &out = isForward(op.prop) ? op.dst : op.diffSrc;
  if (op.axis < 0 || op.axis >= out.ndims)
    return invalidArguments("softmax reference: axis ", op.axis, " is outside 0..", out.ndims - 1);
  bool isWide = false;
  for (const TensorDesc *tensor : {&op.src, &op.dst, &op.diffSrc, &op.diffDst})
    isWide = isWide || tensor->dataType == DataType::F64;
  QUERN_ASSIGN_OR_RETURN(ReferenceOutput output,
                         isWide ? compute<long double>(op, inputs) : compute<double>(op, inputs));
  QUERN_RETURN_IF_ERROR(applyAttributes(desc.attr, inputs, isWide, output));
  return std::vector<ReferenceOutput>{std::move(output)};
}

} // namespace quern
