//===- Emitter.h - Emission of contractions on a CPU ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The emitter writes the kernel and its iterations. Its parts share a builder: Tile has the columns of an iteration,
// RowBlocks the loops over its rows, BlockEmitter the sums of a block, SliceEmitter those of slices of K, and
// MatrixEmitter those in matrix registers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H

#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::schedule::contractions {

/// Writes the kernel of a planned contraction after the problem.
mlir::func::FuncOp emitContraction(const ContractionPlan &plan);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H
