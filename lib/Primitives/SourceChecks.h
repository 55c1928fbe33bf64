//===- SourceChecks.h - What verifiers share about lists of sources -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sum and concat take any number of tensors of any types and layouts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOURCECHECKS_H
#define QUERN_PRIMITIVES_SOURCECHECKS_H

#include "Primitives/Arguments.h"
#include "Primitives/TensorChecks.h"

namespace quern {

/// What one primitive says of them. Citations are as " (sum C3)".
struct SourceRules {
  LayoutRules layout;
  std::string_view presence, type; ///< citations: of a tensor that is missing or `any`, of an element type
};

/// Source `position` is there, with a layout, and checkElements() holds of it.
Result<void> checkSource(const TensorDesc &source, size_t position, const SourceRules &rules);

/// Of one tensor, whatever its role: its type and layout.
Result<void> checkElements(std::string_view name, const TensorDesc &tensor, const SourceRules &rules);

/// The same rank and dims as the first source's, but for `axis` (-1: none).
Result<void> checkSameDims(std::string_view name, const TensorDesc &tensor, const TensorDesc &first, int axis,
                           std::string_view citation);

/// The first source with inner blocks; the number of sources if none has any.
size_t firstBlocked(const std::vector<TensorDesc> &sources);

/// Appends the sources as arguments.
void listSources(const std::vector<TensorDesc> &sources, std::vector<ArgumentInfo> &arguments);

} // namespace quern

#endif // QUERN_PRIMITIVES_SOURCECHECKS_H
