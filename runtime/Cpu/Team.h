//===- Team.h - A program on several threads ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs all steps of a program in one parallel region of the pool. The barrier between steps costs a fraction of waking
// threads for each step.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_TEAM_H
#define QUERN_RUNTIME_CPU_TEAM_H

#include "Cpu/Context.h"
#include "Launch/ProgramRun.h"
#include "Launch/Scratch.h"

namespace quern {

/// Runs the whole program on a useful number of threads. Fails with `out_of_memory` if there is no scratch for a
/// thread; the outputs are then undefined.
Result<void> runProgram(const ProgramRun &run, const ScratchNeeds &needs, const ExecutionContext &context);

Error noSlotMemory(const ScratchNeeds &needs, int threads);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_TEAM_H
