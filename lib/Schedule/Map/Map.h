//===- Map.h - The map recipe: one elementwise op, any layouts -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules one linalg op whose loops are all parallel, whatever the layouts of its operands, into a kernel of scf loops and vectors.
// A fill of the whole destination in front of the op is merged: what of the destination the op does not write is written in the same
// stores. It reads indexing maps, strides and the body only; no primitive is known to it. What it decides is written on the kernel as
// `quern.plan`.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_MAP_H
#define QUERN_SCHEDULE_MAP_MAP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct MapStrategy {
  int64_t vectorBytes = 64;       ///< of one register
  int64_t registers = 32;         ///< vector registers
  int64_t narrowestMask = 8;      ///< bits of the narrowest element that masked loads and stores take natively; 0: no masked memory access
  int64_t unroll = 4;             ///< most vectors of a line in one step
  int64_t stepOps = 24;           ///< a step of a line takes several vectors up to about this many operations
  int64_t l1Bytes = 32 << 10;     ///< data cache of a core
  int64_t l2Bytes = 1 << 20;      ///< of a core
  int64_t streamBytes = 16 << 20; ///< lines that move so many are written past the caches, where the destination's alignment allows
  int64_t streamTilesBytes = 16 << 20;  ///< so are tiles that move so many and write lines here and there
  int64_t streamAlwaysBytes = 32 << 20; ///< by every call; one that moves less, and only a part of the map, leaves it to the caches
  int64_t iterationBytes = 64 << 10;    ///< moved by an iteration of the kernel's space, if there is enough to move
  double nsPerByte = 0.06;              ///< read or written, on one core
  double nsPerOperation = 0.17;         ///< of one vector operation on one core
  double nsPerScalar = 2;               ///< of an element that is moved by itself
};

/// Schedules `problem` as one kernel `@<name>_kernel` behind it. The kernel's signature and attributes are those that scheduleRows()
/// gives. `problem` stays. Inputs of the destination's layout and size of elements may be the same memory; arguments that otherwise overlap
/// may not. Fails without a diagnostic where the function is no map; `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleMap(mlir::func::FuncOp problem, const MapStrategy &strategy,
                                                                   std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_MAP_MAP_H
