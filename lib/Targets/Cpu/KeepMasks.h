//===- KeepMasks.h - Masked accesses that stay masked ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two machine passes that keep the masks of loads and stores through LLVM's passes between them. A masked load protects
// memory that its kernel may not read, so no pass may fold it into another instruction.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_KEEPMASKS_H
#define QUERN_TARGETS_CPU_KEEPMASKS_H

namespace llvm {
class MachineInstr;
class Pass;
} // namespace llvm

namespace quern {

/// Returns true if a lane mask decides which elements an instruction that accesses memory reads or writes.
using IsMasked = bool (*)(const llvm::MachineInstr &instruction);

/// A machine pass that marks the memory operands of masked accesses as volatile. It runs directly after selection,
/// which folds no masked load. LLVM neither folds nor duplicates a volatile access.
llvm::Pass *createMarkMasksPass(IsMasked isMasked);

/// A machine pass that runs after all passes that may rewrite a memory access. Reports an error of the LLVM context if
/// an instruction has a marked memory operand and no mask.
llvm::Pass *createCheckMasksPass(IsMasked isMasked);

} // namespace quern

#endif // QUERN_TARGETS_CPU_KEEPMASKS_H
