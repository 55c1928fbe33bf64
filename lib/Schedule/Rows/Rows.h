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

#include "Schedule/Problem/Problem.h"

namespace quern {

/// The parameters of a target. One table per target sets them (Targets/*/Strategy.h).
struct RowsStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Rows/Strategy.def"
  /// Calls visit(name, member, lowest value, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &RowsStrategy::NAME, LEAST, WHAT);
#include "Schedule/Rows/Strategy.def"
  }
};

/// Schedules `problem` (strided memrefs; arguments named by `quern.arg`) as kernels that run one after another and are
/// inserted in that order after it: `@<name>_kernel`, or `@<name>_kernel0`, … if there are several. Each takes
///   (each argument as a rank-1 or rank-0 memref over its whole buffer, [shared {quern.shared}],
///    [scratch {quern.scratch}], [sizes {quern.sizes}: the dynamic sizes of the arguments, in the order of
///    Problem/Size.h], begin: index, end: index)
/// and has its other properties in its KernelAttr. `problem` is not modified. A fill of an argument that a later op
/// overwrites becomes a separate first kernel, `@<name>_fill_kernel`. Arguments of one type and layout may share
/// memory; arguments must not overlap otherwise. Fails without a diagnostic if the chain does not match; `whyNot`, if
/// given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleRows(const schedule::Problem &problem, const RowsStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_ROWS_H
