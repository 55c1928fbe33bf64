//===- Flatness.cpp - Detection of data that tests nothing ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Flatness.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

constexpr int64_t handful = 8;

bool isFlat(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [first = values.front()](double value) {
    return value == first || (std::isnan(value) && std::isnan(first));
  });
}

/// Returns the number of elements with distinct addresses.
int64_t placesOf(const TensorDesc &desc) {
  int64_t count = desc.hasZeroDim() ? 0 : 1;
  for (int d = 0; d < desc.ndims; ++d)
    count *= desc.strides[d] == 0 && desc.isPlain() ? 1 : desc.dims[d];
  return count;
}

} // namespace

std::string flatPartOf(const ParsedProblem &problem, ProblemData &data) {
  if (problem.verified.isNoop)
    return {};
  for (const ArgumentInfo &argument : problem.verified.arguments)
    if (!argument.isOutput && placesOf(argument.desc) > handful &&
        isFlat(gather(argument.desc, data.buffer(argument.index))))
      return concat("input ", argument.name);
  for (const ReferenceOutput &output : data.expectedOutputs()) {
    std::vector<double> values = output.exact;
    for (double &value : values)
      value = roundTo(output.desc.dataType, value);
    if (output.argument != arg::workspace && placesOf(output.desc) > handful && isFlat(values))
      return concat("output ", output.argument, ", all ", values.front());
  }
  return {};
}

std::string_view reasonForFlat(const PrimitiveDesc &desc, FillKind fill) {
  const auto *softmax = std::get_if<SoftmaxDesc>(&desc.op);
  if (!softmax)
    return {};
  const TensorDesc &data = isForward(softmax->prop) ? softmax->dst : softmax->diffSrc;
  const int64_t length = data.dims[softmax->axis];
  if (length == 1)
    return "rows of one element";
  if (fill == FillKind::Special && data.elements() == length)
    return "a single row of special data";
  if (!isFloating(data.dataType) && !desc.attr.scales.contains(arg::dst))
    return "integer results of at most 1 without a scale";
  return {};
}

} // namespace quern
