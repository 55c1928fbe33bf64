//===- TensorChecks.h - Verification of single tensors --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Unsupported layouts, outputs that cannot be written and the meaning of `any` are the same in every primitive; only
// the constraint numbers differ. A citation has the form " (softmax C11)".
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_TENSORCHECKS_H
#define QUERN_PRIMITIVES_TENSORCHECKS_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

struct NamedTensor {
  const char *name;
  const TensorDesc &desc;
};

/// Returns the number, or "known only at execution" for an open dim.
std::string textOfDim(int64_t dim);

/// Names and constraint numbers of one primitive.
struct LayoutRules {
  std::string_view subject; ///< subject of messages, such as "softmax" or "a reorder"
  /// Citation: a tensor with sizes known only at execution has inner blocks, padding or compensation.
  std::string_view plain;
  std::string_view compensation; ///< citation: the tensor has compensation; empty: that is supported
  std::string_view offsets;      ///< citation: the tensor has padded offsets
};

/// Checks the layout of one tensor; accepts `any`.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor, const LayoutRules &rules);

/// Checks that an output does not broadcast: no stride 0 over more than one element or block. Accepts `any`.
Result<void> checkOutput(std::string_view name, const TensorDesc &tensor, std::string_view citation);

/// If `tensor` has layout `any`, sets it to a dense layout with the order of dims and the blocks of `like`. Fails if a
/// dim, a stride or the offset of `like` is known only at execution.
Result<void> resolveLike(std::string_view name, TensorDesc &tensor, std::string_view likeName, const TensorDesc &like,
                         std::string_view citation);

} // namespace quern

#endif // QUERN_PRIMITIVES_TENSORCHECKS_H
