//===- Emitter.h - Parts of the reorder emitter ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_EMITTER_H
#define QUERN_PRIMITIVES_REORDER_EMITTER_H

#include "Primitives/Emission/Function.h"
#include "Primitives/Reorder/Compensation.h"

namespace quern {

/// Appends `@reorder_compensation0`, … : for each buffer of compensation that the destination has, a function with
/// all of the problem's arguments, where the destination is its bytes. They are to run after what writes the
/// elements and their padding.
void emitReorderCompensation(mlir::ModuleOp module, const VerifiedProblem &problem);

} // namespace quern

#endif // QUERN_PRIMITIVES_REORDER_EMITTER_H
