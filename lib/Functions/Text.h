//===- Text.h - Checks of text before it is parsed ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_TEXT_H
#define QUERN_FUNCTIONS_TEXT_H

#include "Support/Error.h"

#include <string_view>

namespace quern::functions {

/// Refuses as `invalid_arguments` text for which MLIR 22's parser is known to abort or to take minutes: nesting of more
/// than 200 levels, with aliases expanded; aliases that expand to more than a hundred thousand tokens; numbers of more
/// than 400 digits; expressions of more than 200 operators; shapes and affine maps of more than 256 dims; lists of
/// dimensions and permutations that are not lists of integers. Takes time linear in the text. The fuzzer of modules
/// finds such text.
Result<void> checkText(std::string_view text);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_TEXT_H
