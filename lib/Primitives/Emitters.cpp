//===- Emitters.cpp - Verified problems as linalg ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dispatch by kind of primitive. The verifier has refused what no emitter takes, so that a failure here is a missing line below.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emitters.h"

#include "Primitives/Emission/Dropout.h"

#include "mlir/IR/Diagnostics.h"

using namespace quern;

namespace {

struct Emitter {
  PrimitiveKind kind;
  void (*emit)(mlir::ModuleOp, const VerifiedProblem &);
};

/// One line for each primitive that has an implementation.
constexpr Emitter emitters[] = {
    {PrimitiveKind::Binary, emitBinary},
    {PrimitiveKind::Gemm, emitGemm},
    {PrimitiveKind::Eltwise, emitEltwise},
    {PrimitiveKind::Reorder, emitReorder},
    {PrimitiveKind::Concat, emitConcat},
    {PrimitiveKind::Sum, emitSum},
    {PrimitiveKind::Rnn, emitRnn},
    {PrimitiveKind::Softmax, emitSoftmax},
};

} // namespace

mlir::LogicalResult quern::emitProblem(mlir::ModuleOp module, const VerifiedProblem &problem) {
  PrimitiveKind kind = problem.desc.kind();
  for (const Emitter &emitter : emitters) {
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
