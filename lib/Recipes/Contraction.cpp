//===- Contraction.cpp - The contraction recipe ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Read, plan, emit. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Recipes/Contraction.h"

#include "Recipes/ContractionEmitter.h"

using namespace mlir;
using namespace quern;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleContraction(func::FuncOp problem, const ContractionStrategy &strategy,
                                                                std::string *whyNot) {
  std::string reason;
  contractions::Chain chain;
  if (succeeded(contractions::readChain(problem, chain, strategy.isLastResort, reason))) {
    contractions::Plan plan(chain, strategy);
    if (succeeded(contractions::planContraction(plan, reason)))
      return SmallVector<func::FuncOp>{contractions::Emitter(plan).emit()};
  }
  if (whyNot)
    *whyNot = reason;
  return failure();
}
