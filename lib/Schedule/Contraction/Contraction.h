//===- Contraction.h - The contraction recipe: products, then elementwise -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules products of two operands that accumulate into one space of rows and columns, and the elementwise ops around
// them, into one kernel of scf loops and vectors. A block of sums stays in registers over all of K, and the elementwise
// ops run while the block is in registers or in an L1-sized scratch. The recipe reads only indexing maps, iterator
// types, strides and bodies, never the primitive. The kernel's `plan` attribute records its decisions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
#define QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H

#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Problem/Match.h"

namespace quern {

/// Properties of a target. One table per target sets the fields (Targets/*/Strategy.cpp).
struct ContractionStrategy {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) TYPE NAME = DEFAULT;
#include "Schedule/Contraction/Strategy.def"
  /// Calls visit(name, member, minimum, description) for each field.
  template <typename Visit> static void visitFields(Visit &&visit) {
#define QUERN_FIELD(TYPE, NAME, DEFAULT, LEAST, WHAT) visit(#NAME, &ContractionStrategy::NAME, LEAST, WHAT);
#include "Schedule/Contraction/Strategy.def"
  }
};

/// Matches `problem`. Emission creates one kernel, as described in Build/Kernel.h. An argument that only elementwise
/// ops read may share the memory of one of the same type and layout that they write. Strided columns, which are read
/// one by one, and single columns are a fallback, unless they are copied. Returns null with a one-line reason if the
/// problem does not match.
MatchPtr matchContraction(const schedule::Problem &problem, const ContractionStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_CONTRACTION_CONTRACTION_H
