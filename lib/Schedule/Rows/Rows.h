//===- Rows.h - The rows recipe: chains of linalg ops with row reductions ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules a chain of linalg ops that share a parallel space and reduce along one dimension into a kernel of scf loops
// and vectors, or into one for each sweep if few long rows are to feed several threads.
// It reads indexing maps, iterator types, strides and bodies only; no primitive is known to it. What it decides
// (vector dimension, sweeps, what is kept between them) follows from the IR and from the strategy, and is written
// on the kernel as its plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_ROWS_H
#define QUERN_SCHEDULE_ROWS_ROWS_H

#include "Schedule/Problem/Problem.h"

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct RowsStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Rows/Strategy.def"
  /// Calls visit(name, member, least value, what it is) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &RowsStrategy::NAME, LEAST, WHAT);
#include "Schedule/Rows/Strategy.def"
  }
};

/// Schedules `problem` (strided memrefs; arguments named by `quern.arg`) as kernels that run one after the other,
/// inserted in that order after it: `@<name>_kernel`, or `@<name>_kernel0`, … where there are several. Each takes
///   (each argument as a rank-1 or rank-0 memref over its whole buffer, [shared {quern.shared}],
///    [scratch {quern.scratch}], [sizes {quern.sizes}: the dynamic sizes of the arguments, in the order of
///    Problem/Size.h], begin: index, end: index)
/// and says the rest in its KernelAttr. `problem` stays.
/// A fill of an argument that a later op overwrites is a kernel of its own, `@<name>_fill_kernel`, in front.
/// Arguments of one type and layout may be the same memory; arguments that otherwise overlap may not.
/// Fails without a diagnostic when the chain does not match; `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleRows(const Problem &problem, const RowsStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_ROWS_ROWS_H
