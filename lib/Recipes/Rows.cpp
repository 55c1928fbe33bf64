//===- Rows.cpp - The rows recipe -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Match, plan, emit. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Recipes/Rows.h"

#include "Recipes/RowEmitter.h"

using namespace mlir;
using namespace quern;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleRows(func::FuncOp problem, const RowsStrategy &strategy, std::string *whyNot) {
  std::string reason;
  rows::RowChain chain;
  rows::RowPlan plan(chain, strategy);
  if (failed(rows::matchRowChain(problem, chain, reason)) || failed(rows::planRows(plan, reason))) {
    if (whyNot)
      *whyNot = reason;
    return failure();
  }
  SmallVector<func::FuncOp> kernels{rows::RowEmitter(plan).emit(problem)};
  for (int sweep = 1; plan.isSplit() && sweep < plan.sweeps; ++sweep)
    kernels.push_back(rows::RowEmitter(plan).emit(kernels.back(), sweep));
  return kernels;
}
