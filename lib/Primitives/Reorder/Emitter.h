//===- Emitter.h - Parts of the reorder emitter ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_EMITTER_H
#define QUERN_PRIMITIVES_REORDER_EMITTER_H

#include "Primitives/Emission/Function.h"
#include "Primitives/Reorder/Compensation.h"

namespace quern {

/// Appends `@reorder_compensation0`, …: one function for each compensation buffer of the destination. It has all
/// arguments of the problem, but the destination is passed as bytes. The functions must run after the elements and
/// their padding have been written.
void emitReorderCompensation(mlir::ModuleOp module, const VerifiedProblem &problem);

} // namespace quern

#endif // QUERN_PRIMITIVES_REORDER_EMITTER_H
