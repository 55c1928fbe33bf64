//===- Map.h - The map recipe: one elementwise op, any layouts -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules one linalg op whose loops are all parallel, whatever the layouts of its operands, into a kernel of scf
// loops and vectors. A preceding fill of the whole destination is merged: the same stores write the parts of the
// destination that the op does not. The recipe reads only indexing maps, strides and the body, so it depends on no
// primitive. The decisions are recorded on the kernel as its plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_MAP_H
#define QUERN_SCHEDULE_MAP_MAP_H

#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Problem/Match.h"

namespace quern {

/// The parameters of a target. One table per target sets them (Targets/*/Strategy.cpp).
struct MapStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Map/Strategy.def"
  /// Calls visit(name, member, lowest value, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &MapStrategy::NAME, LEAST, WHAT);
#include "Schedule/Map/Strategy.def"
  }
};

/// Matches `problem`. Emission creates one kernel, as described in Build/Kernel.h. An input with the destination's
/// layout and element size may share its memory. Returns null with a one-line reason if the function is not a map.
MatchPtr matchMap(const schedule::Problem &problem, const MapStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_MAP_MAP_H
