//===- QuantizationChecks.h - Scales and zero points, as verifiers see them ===//
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

  /// "scales of src".
  std::string of() const;
  bool isMasked(int dim) const { return params.mask >> dim & 1; }
};

/// What one primitive says of them. Citations are as " (softmax C12)".
struct QuantizationRules {
  std::string_view subject; ///< "softmax"
  std::string_view mask;    ///< citation: of a mask beyond the tensor's rank
  std::string_view groups;  ///< citation: there are none; empty: there are
  std::string_view type;    ///< citation: of the values' type
  TypeSet scales = scaleTypes, zeroPoints = zeroPointTypes;
};

Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor, const QuantizationRules &rules);

/// check(quantization) of all scales, then of all zero points, up to the first error.
template <typename Check> Result<void> checkEach(const Attributes &attr, Check check) {
  for (bool isScales : {true, false})
    for (const auto &[argument, params] : isScales ? attr.scales : attr.zeroPoints)
      if (Result<void> ok = check(Quantization{isScales, argument, params}); !ok)
        return ok;
  return {};
}

/// That there are no scales, zero points, post-ops and no dropout, which backward has none of.
Result<void> checkNoAttributes(const Attributes &attr, std::string_view subject, std::string_view citation);

} // namespace quern

#endif // QUERN_PRIMITIVES_QUANTIZATIONCHECKS_H
