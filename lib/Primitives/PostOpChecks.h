//===- PostOpChecks.h - Verification of post-ops --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operands of binary post-ops, with their scales and zero points, have the same form in every primitive; the
// supported cases and the constraint numbers differ.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_POSTOPCHECKS_H
#define QUERN_PRIMITIVES_POSTOPCHECKS_H

#include "Primitives/QuantizationChecks.h"

namespace quern {

/// Names, supported cases and constraint numbers of one primitive. A citation has the form " (softmax C11)".
struct PostOpRules {
  std::string_view subject; ///< subject of messages, such as "softmax"
  TypeSet types;            ///< supported element types
  Result<void> (*checkLayout)(std::string_view name, const TensorDesc &tensor);
  /// Checks scales or zero points of an operand.
  Result<void> (*checkParams)(const Quantization &quantization, const TensorDesc &tensor);
  /// Citations for an operand's dims, an operand's type, a missing operand and unsupported scales or zero points.
  std::string_view shape, type, missing, params;
  std::string_view kinds; ///< citation for the supported kinds of post-ops
  std::string_view sum;   ///< citation for the type as which a sum reads dst, which must have the size of dst's type;
                          ///< empty: sum is not supported
};

/// Checks that all post-ops are eltwise, binary or, at most once, sum, and checks their tensors. Resolves `any` layouts
/// of these to dense row-major.
Result<void> checkPostOps(std::vector<PostOp> &postOps, const TensorDesc &dst, const PostOpRules &rules);

/// Checks scales or zero points of an argument that is not a tensor of the primitive: it must be the src_1 of a binary
/// post-op.
Result<void> checkOfPostOp(const Quantization &quantization, const std::vector<PostOp> &postOps,
                           const PostOpRules &rules);

} // namespace quern

#endif // QUERN_PRIMITIVES_POSTOPCHECKS_H
