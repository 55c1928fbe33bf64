//===- FoldConstants.h - What constants decide is decided ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_FOLDCONSTANTS_H
#define QUERN_TARGETS_CPU_FOLDCONSTANTS_H

#include "llvm/IR/Module.h"

namespace quern {

/// Evaluates instructions of constants, and drops the branches that are then never taken. Recipes compare sizes and
/// limits that are often numbers. Instruction selection would fold them as well, but one block at a time, and it leaves
/// constants of bf16 where LLVM cannot select them.
void foldConstants(llvm::Module &module);

} // namespace quern

#endif // QUERN_TARGETS_CPU_FOLDCONSTANTS_H
