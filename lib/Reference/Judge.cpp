//===- Judge.cpp - Comparison of results with a reference -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Only values are compared, because neither the sign of a zero nor the payload of a NaN is specified.
//
//===----------------------------------------------------------------------===//
#include "Reference/Judge.h"

#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool isWide(DataType type) { return type == DataType::F32 || type == DataType::F64; }

struct Rule {
  DataType type;
  double threshold;
  DataKind data;
  double terms; ///< number of terms of a sum of products, each of which may be off by a denormal

  /// Returns the error in units of the threshold.
  double errorOf(double exact, double magnitude, double got) const {
    if (isRounded(got, exact))
      return 0;
    if (!std::isfinite(exact))
      return infinity;
    double rounded = stored(exact), tolerance = toleranceOf(exact, magnitude);
    if (std::isnan(got))
      return isOfOverflow(stored(exact - tolerance), stored(exact + tolerance)) ? 1 : infinity;
    if (!isWide(type) || !std::isfinite(got))
      return narrowError(exact, rounded, tolerance, got);
    return std::fabs(got - exact) / tolerance;
  }

  /// Rounds `value` to the type; returns infinity where NaN represents a number that is too large.
  double stored(double value) const {
    double rounded = roundTo(type, value);
    return std::isnan(rounded) && !std::isnan(value) ? std::copysign(infinity, value) : rounded;
  }

  bool isRounded(double got, double exact) const {
    double rounded = roundTo(type, exact);
    return got == rounded || (std::isnan(got) && std::isnan(rounded));
  }

  /// Returns true if NaN is the rounded form of some number from `low` to `high`.
  bool isOfOverflow(double low, double high) const {
    return std::isnan(roundTo(type, infinity)) && (std::isinf(low) || std::isinf(high));
  }

  /// Returns the permitted absolute error. For dense data it is at least one smallest denormal for each term.
  double toleranceOf(double exact, double magnitude) const {
    double minTolerance = terms * (type == DataType::F64 ? 0x1p-1074 : 0x1p-149);
    if (data == DataKind::Dense)
      return std::max(threshold * std::max(std::fabs(exact), magnitude), minTolerance);
    return threshold * (std::fabs(exact) < 1e-5 ? 1.0 : std::fabs(exact));
  }

  /// Returns true for the stored form of a NaN of either sign: 0 for integers, the limits for f4_e2m1.
  bool isOfNan(double got) const { return std::isnan(got) || got == roundTo(type, NAN) || got == roundTo(type, -NAN); }

  /// For results after scales or post-ops: any value of the interval is correct. Errors are in units of the distance
  /// from the exact value to the end of the interval on the same side.
  double errorIn(const Interval &possible, double exact, double got) const {
    if (isRounded(got, exact) || (possible.mayBeNan && isOfNan(got)))
      return 0;
    if (possible.isEmpty())
      return infinity;
    double low = stored(static_cast<double>(possible.low)), high = stored(static_cast<double>(possible.high));
    if (std::isnan(got))
      return isOfOverflow(low, high) ? 1 : infinity;
    double end = got > exact ? high : low, distance = std::fabs(end - exact), error = std::fabs(got - exact) / distance;
    if (low <= got && got <= high)
      return std::isfinite(error) ? std::min(error, 1.0) : 0;
    return std::isfinite(got) && std::isfinite(error) ? std::max(error, std::nextafter(1.0, 2.0)) : infinity;
  }

  /// For an output that is not the rounded exact value. It may be the rounding of another value within the tolerance (a
  /// neighbor, if the exact value is near the midpoint), or differ by less than f32 arithmetic can resolve.
  double narrowError(double exact, double rounded, double tolerance, double got) const {
    if (data == DataKind::Designed && std::fabs(got - rounded) < epsilonOf(DataType::F32))
      return std::fabs(got - rounded) / epsilonOf(DataType::F32);
    double low = stored(exact - tolerance), high = stored(exact + tolerance);
    // The error is the distance of `exact` from the midpoint between both values, but at most the tolerance.
    if (low <= got && got <= high)
      return std::min(std::fabs(exact - (rounded + got) / 2) / tolerance, 1.0);
    return std::isfinite(got) ? std::max(std::fabs(got - exact) / tolerance, std::nextafter(1.0, 2.0)) : infinity;
  }
};

/// Returns the number of products that are added up for one element of a gate.
double productsOf(const RnnDesc &rnn) {
  return static_cast<double>(rnn.weightsLayer.dims[2] + rnn.weightsIter.dims[2]);
}

double thresholdOfRnn(const RnnDesc &rnn) {
  if (!isForward(rnn.prop))
    return epsilonOf(DataType::F32);
  double products = productsOf(rnn) * static_cast<double>(rnn.srcLayer.dims[0]);
  double threshold = 4 * std::max(std::ceil(std::log2(std::max(products, 1.0))), 1.0) * epsilonOf(DataType::F32);
  return threshold * (rnn.direction == RnnDirection::BidirectionalSum ? 2 : 1);
}

} // namespace

bool hasExactResults(PrimitiveKind kind) {
  switch (kind) {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  case PrimitiveKind::NAME:                                                                                            \
    return IS_EXACT;
#include "Desc/Primitives.def"
  case PrimitiveKind::Mlir:
  case PrimitiveKind::Undef:
    break;
  }
  return false;
}

double thresholdOf(const PrimitiveDesc &desc, DataType outputType) {
  if (hasExactResults(desc.kind()))
    return 0;
  if (const auto *rnn = std::get_if<Boxed<RnnDesc>>(&desc.op))
    return thresholdOfRnn(*rnn);
  if (desc.kind() == PrimitiveKind::Mlir) // judged by the errors that the function's oracle computes
    return isFloating(outputType) ? epsilonOf(outputType) : 0;
  double threshold = 10 * epsilonOf(outputType == DataType::F64 ? DataType::F64 : DataType::F32);
  if (const SoftmaxDesc *softmax = std::get_if<SoftmaxDesc>(&desc.op)) {
    threshold *= softmax->alg == Alg::SoftmaxLog ? 5 : 1;
    threshold *= isForward(softmax->prop) ? 1 : 4;
  }
  return threshold;
}

namespace {

/// Returns the error of the element at `position`, whose value is `got`, in units of the threshold.
double errorAt(const Rule &rule, const ReferenceOutput &expected, int64_t position, int64_t offset, const void *buffer,
               double exact, double got) {
  auto at = static_cast<size_t>(position);
  if (expected.criterion == Criterion::Bits)
    return loadBits(rule.type, buffer, offset) == expected.bits[at] ? 0 : infinity;
  bool isExact = expected.criterion == Criterion::Value;
  double magnitude = expected.magnitude.empty() ? 0 : expected.magnitude[at];
  if (expected.range) {
    double start = expected.beforeAttributes[at], tolerance = isExact ? 0 : rule.toleranceOf(start, magnitude);
    return rule.errorIn(expected.range(position, Interval::around(start, tolerance)), exact, got);
  }
  if (isExact)
    return got == exact || (std::isnan(got) && std::isnan(exact)) ? 0 : infinity;
  return rule.errorOf(exact, magnitude, got);
}

Interval intervalAt(const PossibleValues &values, size_t at) {
  Interval interval;
  interval.mayBeNan = std::isnan(values.exact[at]);
  if (!std::isnan(values.low[at]) && !std::isnan(values.high[at]))
    interval.low = static_cast<long double>(values.low[at]), interval.high = static_cast<long double>(values.high[at]);
  return interval;
}

} // namespace

Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const void *buffer, DataKind data) {
  return judge(desc, expected, ReferenceInputs{{expected.argument, buffer}}, data);
}

Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const ReferenceInputs &results,
              DataKind data) {
  Verdict verdict;
  const auto *rnn = std::get_if<Boxed<RnnDesc>>(&desc.op);
  Rule rule{expected.desc.dataType, thresholdOf(desc, expected.desc.dataType), data, rnn ? productsOf(*rnn) : 1};
  verdict.threshold = rule.threshold;
  const void *buffer = results.at(expected.argument);
  const PossibleValues possible = expected.possibleOf ? expected.possibleOf(results) : PossibleValues();
  const std::vector<double> derived = expected.exactOf ? expected.exactOf(results) : std::vector<double>();
  const std::vector<double> &values = expected.possibleOf ? possible.exact
                                      : expected.exactOf  ? derived
                                                          : expected.exact;
  forEachElement(expected.desc, [&](int64_t position, int64_t offset) {
    double exact = values[static_cast<size_t>(position)], got = loadElement(expected.desc.dataType, buffer, offset);
    double error = expected.possibleOf ? rule.errorIn(intervalAt(possible, static_cast<size_t>(position)), exact, got)
                                       : errorAt(rule, expected, position, offset, buffer, exact, got);
    double stored = isFloating(rule.type) ? exact : roundTo(rule.type, exact); // saturation is not an error
    if (std::isfinite(stored) && std::isfinite(got))
      verdict.maxAbsError = std::max(verdict.maxAbsError, std::fabs(got - stored));
    verdict.wrong += error > 1;
    if (verdict.position >= 0 && error <= verdict.worst)
      return;
    verdict.worst = error;
    verdict.position = position;
    verdict.expected = exact;
    verdict.got = got;
  });
  verdict.isRight = verdict.wrong == 0;
  return verdict;
}

std::string Verdict::describe(const TensorDesc &desc) const {
  std::ostringstream os;
  os.precision(9);
  if (threshold > 0)
    os << "worst error " << worst << " of the threshold " << threshold;
  else
    os << (wrong ? "not exact" : "exact");
  if (position < 0)
    return os.str();
  int64_t index[maxDims] = {}, rest = position;
  for (int dim = desc.ndims - 1; dim >= 0; --dim) {
    index[dim] = rest % desc.dims[dim];
    rest /= desc.dims[dim];
  }
  os << " at [";
  for (int dim = 0; dim < desc.ndims; ++dim)
    os << (dim ? ", " : "") << index[dim];
  os << "]: got " << got << ", expected " << expected;
  if (wrong)
    os << "; " << wrong << " of " << desc.elements() << " elements are wrong";
  return os.str();
}

} // namespace quern
