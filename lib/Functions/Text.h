//===- Text.h - Text that upstream's parser survives -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_TEXT_H
#define QUERN_FUNCTIONS_TEXT_H

#include "Support/Error.h"

#include <string_view>

namespace quern::functions {

/// Refuses as `invalid_arguments` text that is known to end the process in MLIR 22's parser, or to take it minutes:
/// text that is nested more than 200 deep, with its aliases written out; aliases that stand for more than a million
/// tokens; numbers of more than 400 digits; expressions of more than 200 operators; lists of dimensions and
/// permutations that are not lists of integers. Takes time that is linear in the text. The fuzzer of modules finds such
/// text.
Result<void> checkText(std::string_view text);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_TEXT_H
