//===- Reference.h - Reference implementations of primitives --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oracles of tests and of `quern run --check`, written for comparison with the specification, not for speed. They
// compute on logical values (Elements.h handles layouts), in double or long double unless results must be exact.
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

/// Input buffers by execution argument (QUERN_ARG_*), in the layouts of the problem's descriptors; includes an output
/// whose old values are read. Not owned.
using ReferenceInputs = std::map<int32_t, const void *>;

/// The values from `low` to `high`, and NaN if it is possible. `low > high`: no number.
struct Interval {
  long double low = std::numeric_limits<long double>::infinity(), high = -std::numeric_limits<long double>::infinity();
  bool mayBeNan = false;

  static Interval around(long double value, long double tolerance = 0);
  bool isEmpty() const { return low > high; }
  /// Extends the interval to include `value`.
  void include(long double value);
  void include(const Interval &other);
};

/// Criterion for comparing a result with the reference.
enum class Criterion {
  Threshold, ///< may deviate by the threshold of the primitive (Judge.h)
  Value,     ///< must equal the exact value, which the tensor's type can represent; NaN may have any bits
  Bits,      ///< must have the same bits
};

/// For each element, row-major: the exact value and the bounds of permitted values, before rounding to the tensor's
/// type. If the bounds are NaN, only NaN is permitted.
struct PossibleValues {
  std::vector<double> exact, low, high;
};

/// Expected values of one output, before rounding to the tensor's type.
struct ReferenceOutput {
  int32_t argument = 0;
  /// Descriptor of the argument, or of a tensor after its elements (compensation), relative to the start of the same
  /// buffer.
  TensorDesc desc;
  std::vector<double> exact; ///< logical values, row-major
  /// Magnitude of each element's terms (before attributes). Permitted absolute errors are proportional to it (S in
  /// docs/primitives/*.md).
  std::vector<double> magnitude{};
  /// If scales or post-ops follow: the values before them, and a function that maps an interval around such a value to
  /// the interval of permitted results. Otherwise empty.
  std::vector<double> beforeAttributes{};
  std::function<Interval(int64_t position, const Interval &start)> range{};
  /// Like `range`, for exact results without post-ops other than sums; `beforeAttributes` includes the sums. It serves
  /// comparisons with libraries that use another order of operations; the judge ignores it.
  std::function<Interval(int64_t position, const Interval &start)> ending{};
  Criterion criterion = Criterion::Threshold; ///< how results are judged; if `range` is set, how `beforeAttributes` are
  std::vector<uint64_t> bits{};               ///< with Criterion::Bits
  /// For outputs that depend on the buffers of results (compensation, or a dst that remains unchanged): returns the
  /// exact values for the given buffers, which may differ from `exact`. Otherwise empty.
  std::function<std::vector<double>(const ReferenceInputs &results)> exactOf{};
  /// For outputs that depend on rounded results (the next state of an RNN), and for gradients of an RNN: returns the
  /// permitted values of each element, instead of `range` and a threshold.
  std::function<PossibleValues(const ReferenceInputs &results)> possibleOf{};
};

/// Computes the expected outputs. Fails with `unimplemented` if there is no reference, and with `invalid_arguments` if
/// an input is missing or a layout is unresolved.
Result<std::vector<ReferenceOutput>> computeReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs);

// One function for each primitive, defined in Reference/<Name>/Reference.cpp.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  Result<std::vector<ReferenceOutput>> compute##NAME##Reference(const PrimitiveDesc &desc,                             \
                                                                const ReferenceInputs &inputs);
#include "Desc/Primitives.def"

} // namespace quern

#endif // QUERN_REFERENCE_REFERENCE_H
