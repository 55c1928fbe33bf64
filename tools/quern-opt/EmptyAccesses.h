//===- EmptyAccesses.h - Masked accesses that have no active lane ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A masked access without an active lane faults nowhere, so that neither guard pages nor results tell where it
// lies. But where it meets a page that is not there, a processor takes hundreds of cycles to find that out. Here
// kernels are made to tell.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_OPT_EMPTYACCESSES_H
#define QUERN_OPT_EMPTYACCESSES_H

#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// In scheduled kernels, puts a trap in front of each masked access: it is met if no lane is active and some lane lies
/// outside of the buffer, where the buffer's type tells its size. The process then gets SIGTRAP.
void trapEmptyAccesses(mlir::ModuleOp module);

/// On SIGTRAP, `what` and the reason are printed to standard error and the process exits with 1.
/// `what` must live as long.
void explainTraps(const char *what);

} // namespace quern

#endif // QUERN_OPT_EMPTYACCESSES_H
