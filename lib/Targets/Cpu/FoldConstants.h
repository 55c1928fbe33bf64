//===- FoldConstants.h - Folding of constants and branches ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_FOLDCONSTANTS_H
#define QUERN_TARGETS_CPU_FOLDCONSTANTS_H

#include "llvm/IR/Module.h"

namespace quern {

/// Evaluates instructions whose operands are constants, and removes branches that are then never taken. Recipes compare
/// sizes and limits that are often constant. Instruction selection would fold them as well, but one block at a time,
/// and it leaves bf16 constants that LLVM cannot select.
void foldConstants(llvm::Module &module);

} // namespace quern

#endif // QUERN_TARGETS_CPU_FOLDCONSTANTS_H
