//===- RecipePasses.h - Each recipe as a pass -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_RECIPEPASSES_H
#define QUERN_COMPILER_RECIPEPASSES_H

namespace quern {

/// Registers one pass for each recipe (quern-compiler/Passes.h has their names). Must be called at most once per
/// process.
void registerRecipePasses();

} // namespace quern

#endif // QUERN_COMPILER_RECIPEPASSES_H
