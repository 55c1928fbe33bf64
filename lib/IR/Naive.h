//===- Naive.h - Problems that are lowered loop by loop -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_NAIVE_H
#define QUERN_IR_NAIVE_H

#include "llvm/ADT/StringRef.h"

namespace quern::attr {

/// On a problem: it is lowered to scalar loops instead of being scheduled by a recipe. If true, the loops compute f32
/// values in f64.
inline constexpr llvm::StringLiteral naive = "quern.naive";

} // namespace quern::attr

#endif // QUERN_IR_NAIVE_H
