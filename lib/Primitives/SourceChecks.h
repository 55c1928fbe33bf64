//===- SourceChecks.h - Verification of lists of sources ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For sum and concat, which have any number of sources of any types and layouts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOURCECHECKS_H
#define QUERN_PRIMITIVES_SOURCECHECKS_H

#include "Primitives/Arguments.h"
#include "Primitives/TensorChecks.h"

namespace quern {

/// Constraint numbers of one primitive. A citation has the form " (sum C3)".
struct SourceRules {
  LayoutRules layout;
  std::string_view presence, type; ///< citations for a tensor that is missing or `any`; for an element type
};

/// Checks that source `position` exists and has a layout, and calls checkElements().
Result<void> checkSource(const TensorDesc &source, size_t position, const SourceRules &rules);

/// Checks the type and layout of one tensor, whatever its role.
Result<void> checkElements(std::string_view name, const TensorDesc &tensor, const SourceRules &rules);

/// Checks that `tensor` has the rank and dims of the first source, except along `axis` (-1: no exception).
Result<void> checkSameDims(std::string_view name, const TensorDesc &tensor, const TensorDesc &first, int axis,
                           std::string_view citation);

/// Returns the index of the first source with inner blocks; the number of sources if none has any.
size_t firstBlocked(const std::vector<TensorDesc> &sources);

/// Appends the sources to the arguments.
void listSources(const std::vector<TensorDesc> &sources, std::vector<ArgumentInfo> &arguments);

} // namespace quern

#endif // QUERN_PRIMITIVES_SOURCECHECKS_H
