//===- Reference.h - What a primitive must compute, readably -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oracle of tests and of `quern run --check`: written to be read beside the specification, not to be fast.
// It computes in double (long double if f64 is involved) on logical values, so that layouts are somebody
// else's matter (Elements.h).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_REFERENCE_H
#define QUERN_REFERENCE_REFERENCE_H

#include "Desc/PrimitiveDesc.h"

#include <functional>
#include <limits>
#include <map>
#include <vector>

namespace quern {

/// Input buffers by execution argument (QUERN_ARG_*), laid out as the problem's descriptors say; among them an output
/// whose old values are read. Not owned.
using ReferenceInputs = std::map<int32_t, const void *>;

/// The values from `low` to `high`, and NaN if it may be. `low > high`: no number.
struct Interval {
  long double low = std::numeric_limits<long double>::infinity(), high = -std::numeric_limits<long double>::infinity();
  bool mayBeNan = false;

  static Interval around(long double value, long double tolerance = 0);
  bool isEmpty() const { return low > high; }
  /// Widens it by one value.
  void include(long double value);
  void include(const Interval &other);
};

/// How a result is compared with the reference's.
enum class Criterion {
  Threshold, ///< it may be off by the threshold of the primitive (Judge.h)
  Value,     ///< it is the exact value, which the tensor's type has; NaN is NaN whatever its bits are
  Bits,      ///< it has these very bits
};

/// Of each element, row-major: the exact value and the ends of what it may be, before they are rounded to the tensor's
/// type. Ends that are NaN: NaN alone.
struct PossibleValues {
  std::vector<double> exact, low, high;
};

/// One output: exact values, before they are rounded to the tensor's type.
struct ReferenceOutput {
  int32_t argument = 0;
  /// Of the argument, or of a tensor behind its elements (compensation), from the start of the same buffer.
  TensorDesc desc;
  std::vector<double> exact; ///< logical, row-major
  /// The size of the terms behind each element (before attributes), which an absolute error is measured by (the S
  /// of docs/primitives/*.md).
  std::vector<double> magnitude{};
  /// Where scales or post-ops follow: what they start from, and the results that they may lead to from values
  /// near that. Otherwise empty.
  std::vector<double> beforeAttributes{};
  std::function<Interval(int64_t position, const Interval &start)> range{};
  /// As `range`, of results that are exact and whose post-ops are sums alone; `beforeAttributes` is then behind the
  /// sums. For what other orders of the same arithmetic give, which no judge allows.
  std::function<Interval(int64_t position, const Interval &start)> ending{};
  Criterion criterion = Criterion::Threshold; ///< with `range`: of what it starts from
  std::vector<uint64_t> bits{};               ///< with Criterion::Bits
  /// Of what is made of other results (compensation): the exact values, from the buffers of the outputs that are there.
  /// Where those results may differ, they differ from `exact`. Otherwise empty.
  std::function<std::vector<double>(const ReferenceInputs &results)> exactOf{};
  /// Of what goes on from rounded results (the next state of an RNN), instead of `range` and a threshold:
  /// what each element may be.
  std::function<PossibleValues(const ReferenceInputs &results)> possibleOf{};
};

/// `unimplemented` where the references do not reach, `invalid_arguments` for a missing input or a
/// layout that is not resolved.
Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

// One function for each primitive, in Reference/<Name>/Reference.cpp.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  Result<std::vector<ReferenceOutput>> compute##NAME##Reference(const PrimitiveDesc &desc,                             \
                                                                const ReferenceInputs &inputs);
#include "Desc/Primitives.def"

} // namespace quern

#endif // QUERN_REFERENCE_REFERENCE_H
