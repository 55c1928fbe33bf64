//===- Contraction.cpp - The contraction recipe --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads, plans, then emits. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Contraction.h"

#include "Schedule/Contraction/Cpu/Emitter.h"
#include "Schedule/Contraction/Cpu/Open.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

FailureOr<SmallVector<func::FuncOp>>
quern::scheduleContraction(const Problem &problem, const ContractionStrategy &strategy, std::string *whyNot) {
  std::string reason, first;
  for (bool isLastResort : {strategy.isLastResort, true}) {
    contractions::Chain chain;
    contractions::ContractionPlan plan(chain, strategy);
    if (succeeded(
            contractions::readChain(problem, chain, {.strided = isLastResort, .singleColumn = isLastResort}, reason)) &&
        succeeded(contractions::planContraction(plan, reason)) &&
        (isLastResort == strategy.isLastResort || plan.k.slices)) // copied data need not be contiguous
      return SmallVector<func::FuncOp>{contractions::emitContraction(plan)};
    if (first.empty())
      first = reason;
  }
  contractions::Chain chain;
  contractions::OpenPlan plan(chain, strategy);
  if (succeeded(contractions::readChain(problem, chain, {.strided = true, .open = true, .panels = true}, reason)) &&
      succeeded(contractions::planOpen(plan, reason)))
    return SmallVector<func::FuncOp>{contractions::emitOpen(plan)};
  if (whyNot)
    *whyNot = first;
  return failure();
}
