//===- SourceChecks.cpp - Verification of lists of sources ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/SourceChecks.h"

#include "Primitives/TypeSets.h"

#include <algorithm>

namespace quern {
constexpr TypeSet sourceTypes = {DataType::F64,    DataType::F32,  DataType::BF16, DataType::F16, DataType::F8E5M2,
                                 DataType::F8E4M3, DataType::E8M0, DataType::S32,  DataType::S8,  DataType::U8};

Result<void> checkSource(const TensorDesc &source, size_t position, const SourceRules &rules) {
  if (source.isZero() || source.isAny())
    return invalidArguments(arg::nameOf(arg::sourceAt(position)),
                            source.isAny() ? " has layout `any`; only a destination may" : " is absent",
                            rules.presence);
  return checkElements(arg::nameOf(arg::sourceAt(position)), source, rules);
}

Result<void> checkElements(std::string_view name, const TensorDesc &tensor, const SourceRules &rules) {
  if (!sourceTypes.contains(tensor.dataType))
    return unimplemented(rules.layout.subject, " is not implemented for ", name, " of type ", nameOf(tensor.dataType),
                         "; it is for ", sourceTypes.names(), rules.type);
  return checkLayout(name, tensor, rules.layout);
}

Result<void> checkSameDims(std::string_view name, const TensorDesc &tensor, const TensorDesc &first, int axis,
                           std::string_view citation) {
  if (tensor.ndims != first.ndims)
    return invalidArguments(name, " is of rank ", tensor.ndims, ", srcs.0 of rank ", first.ndims, citation);
  for (int d = 0; d < first.ndims; ++d)
    if (d != axis && tensor.dims[d] != first.dims[d])
      return invalidArguments("dim ", d, " of ", name, " is ", textOfDim(tensor.dims[d]), "; in srcs.0 it is ",
                              textOfDim(first.dims[d]), citation);
  return {};
}

size_t firstBlocked(const std::vector<TensorDesc> &sources) {
  return static_cast<size_t>(
      std::find_if(sources.begin(), sources.end(), [](const TensorDesc &source) { return !source.isPlain(); }) -
      sources.begin());
}

void listSources(const std::vector<TensorDesc> &sources, std::vector<ArgumentInfo> &arguments) {
  arguments.reserve(arguments.size() + sources.size() + 1);
  for (size_t i = 0; i < sources.size(); ++i)
    arguments.push_back({arg::sourceAt(i), arg::nameOf(arg::sourceAt(i)), sources[i], false});
}

} // namespace quern
