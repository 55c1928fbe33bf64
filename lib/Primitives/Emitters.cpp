//===- Emitters.cpp - Emission of verified problems as linalg -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dispatches by the kind of primitive. The verifier has refused problems that no emitter supports.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emitters.h"

#include "Primitives/Emission/Attributes/Dropout.h"

#include "mlir/IR/Diagnostics.h"

using namespace quern;

namespace {

struct PrimitiveEmitter {
  PrimitiveKind kind;
  void (*emit)(mlir::ModuleOp, const VerifiedProblem &);
};

constexpr PrimitiveEmitter emitters[] = {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) {PrimitiveKind::NAME, emit##NAME},
#include "Desc/Primitives.def"
};

} // namespace

mlir::LogicalResult quern::emitProblem(mlir::ModuleOp module, const VerifiedProblem &problem) {
  PrimitiveKind kind = problem.desc.kind();
  for (const PrimitiveEmitter &emitter : emitters) {
    if (emitter.kind != kind)
      continue;
    if (!problem.desc.attr.dropout.isSet()) {
      emitter.emit(module, problem);
      return mlir::success();
    }
    const VerifiedProblem masked = emission::withDropoutMask(problem);
    emission::emitDropoutMask(module, masked);
    emitter.emit(module, masked);
    emission::emitDropoutProgram(module, masked);
    return mlir::success();
  }
  module.emitError("no emitter for ") << llvm::StringRef(nameOf(kind));
  return mlir::failure();
}
