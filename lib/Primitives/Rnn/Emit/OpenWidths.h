//===- OpenWidths.h - RNNs whose widths are known only at execution -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_OPENWIDTHS_H
#define QUERN_PRIMITIVES_RNN_EMIT_OPENWIDTHS_H

#include "Primitives/Registry.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern::rnn {

/// Emits the program of a problem with hasOpenWidths().
void emitOpenWidths(mlir::ModuleOp module, const VerifiedProblem &problem);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_OPENWIDTHS_H
