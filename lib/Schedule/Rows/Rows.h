//===- Rows.h - The rows recipe: chains of linalg ops with row reductions ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules a chain of linalg ops that share a parallel space and reduce along one dimension. The result is one kernel
// of scf loops and vectors, or one for each sweep if a few long rows are to occupy several threads. The recipe reads
// only indexing maps, iterator types, strides and bodies, so it depends on no primitive. Its decisions (vector
// dimension, sweeps, values kept between them) follow from the IR and the strategy, and are recorded on the kernel as
// its plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_ROWS_H
#define QUERN_SCHEDULE_ROWS_ROWS_H

#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Problem/Match.h"

namespace quern {

/// The parameters of a target. One table per target sets them (Targets/*/Strategy.cpp).
struct RowsStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Rows/Strategy.def"
  /// Calls visit(name, member, lowest value, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &RowsStrategy::NAME, LEAST, WHAT);
#include "Schedule/Rows/Strategy.def"
  }
};

/// Matches `problem`. Emission creates the kernels that Build/Kernel.h describes. A fill of an argument that a later op
/// overwrites becomes a separate first kernel, `@<name>_fill_kernel`. Arguments of one type and layout may share
/// memory. Returns null with a one-line reason if the chain does not match.
MatchPtr matchRows(const schedule::Problem &problem, const RowsStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_ROWS_H
