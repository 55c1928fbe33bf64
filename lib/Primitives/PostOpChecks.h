//===- PostOpChecks.h - What verifiers share about post-ops ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tensors of binary post-ops, with their scales and zero points, are the same thing in every primitive; what
// differs is what it supports and the numbers of its constraints.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_POSTOPCHECKS_H
#define QUERN_PRIMITIVES_POSTOPCHECKS_H

#include "Primitives/QuantizationChecks.h"

namespace quern {

/// What one primitive says. Citations are as " (softmax C11)".
struct PostOpRules {
  std::string_view subject; ///< "softmax"
  TypeSet types;            ///< of elements
  Result<void> (*checkLayout)(std::string_view name, const TensorDesc &tensor);
  /// Of scales or zero points of an operand.
  Result<void> (*checkParams)(const Quantization &quantization, const TensorDesc &tensor);
  /// Citations: of an operand's dims, its type, of what is missing, of unsupported params.
  std::string_view shape, type, missing, params;
  std::string_view kinds; ///< citation: of which kinds post-ops are
  std::string_view sum;   ///< citation: the type that a sum reads dst as has the size of dst's; empty: there is no sum
};

/// That all are eltwise, binary or, at most once, sum, and the tensors that they have; resolves `any` of
/// those, to dense row-major.
Result<void> checkPostOps(std::vector<PostOp> &postOps, const TensorDesc &dst, const PostOpRules &rules);

/// Scales or zero points of an argument that is no tensor of the primitive itself: they must be
/// those of an operand's src_1.
Result<void> checkOfPostOp(const Quantization &quantization, const std::vector<PostOp> &postOps,
                           const PostOpRules &rules);

} // namespace quern

#endif // QUERN_PRIMITIVES_POSTOPCHECKS_H
