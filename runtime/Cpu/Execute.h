//===- Execute.h - Runs launch steps --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Splits the iteration space of each step over threads, gives every call its scratch and the floating-point environment that kernels
// expect.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_EXECUTE_H
#define QUERN_RUNTIME_CPU_EXECUTE_H

#include "Core/Executable.h"
#include "Cpu/Context.h"

namespace quern {

/// On the pool that an embedder gives; without one, on the default threads, or with `ownThreads` on the calling one alone.
ExecutionContext contextOn(threadpool_interop::threadpool_iface *pool, bool ownThreads);

/// Runs every step. `buffers` are in the order of the executable's arguments. `out_of_memory`: no scratch, outputs undefined.
Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_EXECUTE_H
