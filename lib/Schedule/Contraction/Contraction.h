//===- Contraction.h - The contraction recipe: products, then elementwise ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules products of two operands that accumulate into one space of rows and columns, and the elementwise ops around
// them, into one kernel of scf loops and vectors: a block of sums stays in registers over all of K, and the elementwise
// ops follow while the block is in registers or in a scratch of the first-level cache. It reads indexing maps, iterator
// types, strides and bodies only; no primitive is known to it. What it decides is written on the kernel as its plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
#define QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H

#include "Schedule/Problem/Problem.h"

namespace quern {

/// What a target contributes. One table per target fills it (Targets/*/Strategy.h).
struct ContractionStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Contraction/Strategy.def"
  /// Calls visit(name, member, least value, what it is) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &ContractionStrategy::NAME, LEAST, WHAT);
#include "Schedule/Contraction/Strategy.def"
  }
};

/// Schedules `problem` as one kernel `@<name>_kernel` behind it. The kernel's signature and attributes are those that
/// scheduleRows() gives. `problem` stays. An argument that only elementwise ops read may be the same memory as one of
/// the same type and layout that they write; arguments that otherwise overlap may not. Fails without a diagnostic where
/// the function does not match; `whyNot`, if given, then receives the reason in one line.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
scheduleContraction(const Problem &problem, const ContractionStrategy &strategy, std::string *whyNot = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
