//===- Emitters.h - Emission of verified problems as linalg ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `emit` stage, the last one that reads a descriptor. An emitter writes the problem as its specification states it:
// one linalg op per mathematical step on strided memrefs, with every permitted deviation explicit in the IR. Lowered
// naively, the result is the oracle.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMITTERS_H
#define QUERN_PRIMITIVES_EMITTERS_H

#include "Primitives/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// Appends the problem's functions to `module`: usually `@<primitive>`, then `@<primitive>_padding0`, …, which zero the
/// padding of destinations. They run in this order unless the module gets a ProgramAttr. Their arguments are named by
/// `quern.arg`; a memref may be a view of a part of the tensor. `problem` must be verified and not a no-op. Fails with
/// a diagnostic on `module` if the primitive kind has no emitter. The context must have func, linalg, memref, arith and
/// math loaded.
mlir::LogicalResult emitProblem(mlir::ModuleOp module, const VerifiedProblem &problem);

// One emitter for each primitive, defined in Primitives/<Name>/Emit.cpp.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  void emit##NAME(mlir::ModuleOp module, const VerifiedProblem &problem);
#include "Desc/Primitives.def"

} // namespace quern

#endif // QUERN_PRIMITIVES_EMITTERS_H
