//===- Map.h - The map recipe: one elementwise op, any layouts -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules one linalg op whose loops are all parallel, whatever the layouts of its operands, into a kernel of scf
// loops and vectors. A fill of the whole destination in front of the op is merged: what of the destination the op does
// not write is written in the same stores. It reads indexing maps, strides and the body only; no primitive is known to
// it. What it decides is written on the kernel as its plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_MAP_H
#define QUERN_SCHEDULE_MAP_MAP_H

#include "Schedule/Problem/Problem.h"

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct MapStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Map/Strategy.def"
  /// Calls visit(name, member, least value, what it is) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &MapStrategy::NAME, LEAST, WHAT);
#include "Schedule/Map/Strategy.def"
  }
};

/// Schedules `problem` as one kernel `@<name>_kernel` behind it. The kernel's signature and attributes are those that
/// scheduleRows() gives. `problem` stays. Inputs of the destination's layout and size of elements may be the same
/// memory; arguments that otherwise overlap may not. Fails without a diagnostic where the function is no map; `whyNot`,
/// if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> scheduleMap(const Problem &problem, const MapStrategy &strategy,
                                                                   std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_MAP_MAP_H
