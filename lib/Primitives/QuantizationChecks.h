//===- QuantizationChecks.h - Verification of scales and zero points ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_QUANTIZATIONCHECKS_H
#define QUERN_PRIMITIVES_QUANTIZATIONCHECKS_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/TypeSets.h"

namespace quern {

/// Scales or zero points of one argument.
struct Quantization {
  bool isScales;
  int32_t argument;
  const QuantParams &params;

  /// Returns a description for messages, such as "scales of src".
  std::string of() const;
  bool isMasked(int dim) const { return params.mask >> dim & 1; }
};

/// Names and constraint numbers of one primitive. A citation has the form " (softmax C12)".
struct QuantizationRules {
  std::string_view subject; ///< subject of messages, such as "softmax"
  std::string_view mask;    ///< citation for a mask that exceeds the tensor's rank
  std::string_view groups;  ///< citation for groups; empty: groups are supported
  std::string_view type;    ///< citation for the type of the values
  TypeSet scales = scaleTypes, zeroPoints = zeroPointTypes;
};

Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor, const QuantizationRules &rules);

/// Calls check(quantization) for all scales, then for all zero points, and returns the first error.
template <typename Check> Result<void> checkEach(const Attributes &attr, Check check) {
  for (bool isScales : {true, false})
    for (const auto &[argument, params] : isScales ? attr.scales : attr.zeroPoints)
      QUERN_RETURN_IF_ERROR(check(Quantization{isScales, argument, params}));
  return {};
}

/// Checks that there are no scales, zero points, post-ops or dropout, which backward problems do not support.
Result<void> checkNoAttributes(const Attributes &attr, std::string_view subject, std::string_view citation);

} // namespace quern

#endif // QUERN_PRIMITIVES_QUANTIZATIONCHECKS_H
