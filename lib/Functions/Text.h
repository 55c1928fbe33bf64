//===- Text.h - Text that upstream's parser survives -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_TEXT_H
#define QUERN_FUNCTIONS_TEXT_H

#include "Support/Error.h"

#include <string_view>

namespace quern::functions {

/// Refuses as `invalid_arguments` what is known to end the process in MLIR 22's parser: text that is nested more than
/// 200 deep, and lists of dimensions and permutations that are no lists of integers. The fuzzer of modules finds such
/// text.
Result<void> checkText(std::string_view text);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_TEXT_H
