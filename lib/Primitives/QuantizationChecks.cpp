//===- QuantizationChecks.cpp - Verification of scales and zero points ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/QuantizationChecks.h"

#include "Primitives/Arguments.h"

namespace quern {

std::string Quantization::of() const {
  return concat(isScales ? "scales of " : "zero points of ", arg::nameOf(argument));
}

Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor, const QuantizationRules &rules) {
  const QuantParams &params = quantization.params;
  if (params.mask >> tensor.ndims != 0)
    return invalidArguments(quantization.of(), " have mask ", params.mask, "; a tensor of rank ", tensor.ndims,
                            " allows 0 to ", (1 << tensor.ndims) - 1, rules.mask);
  if (!params.groups.empty() && !rules.groups.empty())
    return unimplemented(rules.subject, " is not implemented with groups of ", quantization.of(), rules.groups);
  const TypeSet &types = quantization.isScales ? rules.scales : rules.zeroPoints;
  if (!types.contains(params.dataType))
    return unimplemented(quantization.of(), " are of type ", nameOf(params.dataType), "; ", rules.subject, " supports ",
                         types.names(), rules.type);
  return {};
}

Result<void> checkNoAttributes(const Attributes &attr, std::string_view subject, std::string_view citation) {
  if (!attr.scales.empty())
    return unimplemented(subject, " does not support scales; ", arg::nameOf(attr.scales.begin()->first), " has some",
                         citation);
  if (!attr.zeroPoints.empty())
    return unimplemented(subject, " does not support zero points; ", arg::nameOf(attr.zeroPoints.begin()->first),
                         " has some", citation);
  if (!attr.postOps.empty())
    return unimplemented(subject, " does not support post-ops; ", attr.postOps.size(), " are given, the first is ",
                         nameOf(attr.postOps[0].kind), citation);
  if (attr.dropout.isSet())
    return unimplemented(subject, " does not support dropout", citation);
  return {};
}

} // namespace quern
