//===- EmptyAccesses.h - Traps for masked accesses without lanes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A masked access without an active lane never faults, so neither guard pages nor results show its address. However, if
// the address is on an unmapped page, the processor needs hundreds of cycles to suppress the fault. These functions
// make kernels report such accesses.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_OPT_EMPTYACCESSES_H
#define QUERN_OPT_EMPTYACCESSES_H

#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// Inserts a trap before each masked access of scheduled kernels. The process gets SIGTRAP if no lane is active and
/// some lane is outside of the buffer. Buffers of unknown size are skipped.
void trapEmptyAccesses(mlir::ModuleOp module);

/// Installs a handler for SIGTRAP that prints `what` and the reason to standard error and exits with 1. `what` must
/// outlive the process's last trap.
void explainTraps(const char *what);

} // namespace quern

#endif // QUERN_OPT_EMPTYACCESSES_H
