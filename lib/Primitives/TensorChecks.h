//===- TensorChecks.h - What verifiers share about tensors ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layouts that no kernel takes, outputs that nothing can be written to and the meaning of `any` are the same in every
// primitive; what differs is the numbers of their constraints. A citation is as " (softmax C11)".
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

/// "given at execution", or the number.
std::string textOfDim(int64_t dim);

/// What one primitive says of a layout.
struct LayoutRules {
  std::string_view subject; ///< "softmax", "a reorder"
  /// Citation: what has sizes that are given at execution has no inner blocks, no padding and no compensation.
  std::string_view plain;
  std::string_view compensation; ///< citation: there is none; empty: there may be
  std::string_view offsets;      ///< citation: there are no padded offsets
};

/// Of one tensor; `any` passes.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor, const LayoutRules &rules);

/// An output does not broadcast: no stride 0 over more than one element or block. `any` passes.
Result<void> checkOutput(std::string_view name, const TensorDesc &tensor, std::string_view citation);

/// Gives `tensor`, if it has layout `any`, the order of dims and the blocks of `like`, dense. Fails where
/// those are given at execution.
Result<void> resolveLike(std::string_view name, TensorDesc &tensor, std::string_view likeName, const TensorDesc &like,
                         std::string_view citation);

} // namespace quern

#endif // QUERN_PRIMITIVES_TENSORCHECKS_H
