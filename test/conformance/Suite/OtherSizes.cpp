//===- OtherSizes.cpp - More sizes for a kernel with open sizes -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tensor is written type:dims:layout; if a field with a `?` otherwise contains only numbers, it holds dims.
//
//===----------------------------------------------------------------------===//
#include "OtherSizes.h"

#include <algorithm>

namespace quern {
namespace {

/// Returns for each `?` of the line whether it is a dim.
std::vector<bool> whichAreDims(std::string_view line) {
  std::vector<bool> dims;
  for (size_t first = 0; first < line.size();) {
    const size_t end = std::min(line.find_first_of(": ,()=+", first), line.size());
    const std::string_view field = line.substr(first, end - first);
    const bool isDims = first > 0 && line[first - 1] == ':' && field.find_first_not_of("0123456789x?") == field.npos;
    dims.insert(dims.end(), static_cast<size_t>(std::count(field.begin(), field.end(), '?')), isDims);
    first = end + 1;
  }
  return dims;
}

} // namespace

std::vector<std::vector<int64_t>> otherSizesOf(std::string_view line, const std::vector<int64_t> &sizes,
                                               Random &random) {
  const std::vector<bool> isDim = whichAreDims(line);
  std::vector<int64_t> values;
  for (size_t i = 0; i < sizes.size() && i < isDim.size(); ++i)
    if (isDim[i] && sizes[i] > 1)
      values.push_back(sizes[i]);
  std::vector<std::vector<int64_t>> all;
  if (values.empty() || isDim.size() != sizes.size())
    return all;
  const int64_t old = values[static_cast<size_t>(random.between(0, static_cast<int64_t>(values.size()) - 1))];
  for (int64_t value : {old - 1, int64_t(1), random.between(1, old - 1)}) {
    std::vector<int64_t> other = sizes;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (isDim[i] && sizes[i] == old)
        other[i] = value;
    if (std::find(all.begin(), all.end(), other) == all.end())
      all.push_back(other);
  }
  return all;
}

} // namespace quern
