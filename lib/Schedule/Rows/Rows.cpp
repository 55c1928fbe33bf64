//===- Rows.cpp - The rows recipe ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Matches, plans and emits. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Rows.h"

#include "IR/QuernDialect.h"
#include "Schedule/Rows/Cpu/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

static FailureOr<SmallVector<func::FuncOp>> scheduleChain(const Problem &problem, const RowsStrategy &strategy,
                                                          std::string *whyNot) {
  std::string reason;
  rows::RowChain chain;
  rows::RowPlan plan(chain, strategy);
  if (failed(rows::matchRowChain(problem, chain, reason)) || failed(rows::planRows(plan, reason))) {
    if (whyNot)
      *whyNot = reason;
    return failure();
  }
  if (plan.vectors.wholeRows)
    return SmallVector<func::FuncOp>{rows::WholeRowEmitter(plan).emit(problem.function)};
  SmallVector<func::FuncOp> kernels{rows::SweepEmitter(plan, 0).emit(problem.function)};
  for (int sweep = 1; plan.space.isSplit() && sweep < plan.sweeps; ++sweep)
    kernels.push_back(rows::SweepEmitter(plan, sweep).emit(kernels.back()));
  return kernels;
}

/// Returns a fill of an argument that another op overwrites, at least partly; null if there is none.
static linalg::FillOp overwrittenFill(func::FuncOp problem) {
  for (auto fill : problem.getBody().front().getOps<linalg::FillOp>()) {
    Value filled = fill.getOutputs()[0];
    bool isOverwritten = llvm::any_of(filled.getUsers(), [&](Operation *user) {
      auto op = dyn_cast<linalg::LinalgOp>(user);
      return op && op != fill && !op.getNumReductionLoops() && llvm::is_contained(op.getDpsInits(), filled);
    });
    if (isa<BlockArgument>(filled) && isOverwritten)
      return fill;
  }
  return {};
}

/// Sets the name of the problem in the kernel's attribute, because a launch program calls kernels by these names.
static void setProblem(func::FuncOp kernel, StringRef problem) {
  auto own = attrOf<KernelAttr>(kernel);
  kernel->setAttr(KernelAttr::name,
                  KernelAttr::get(kernel.getContext(), own.getFactors(), own.getGroupSize(), own.getNsPerIteration(),
                                  own.getPlan(), problem, own.getScratchBytes(), own.getSharedBytes(), own.getSpace(),
                                  own.getSubGroupSize()));
}

/// Schedules two chains instead of one: the fill, then everything else.
static FailureOr<SmallVector<func::FuncOp>> scheduleBehindFill(func::FuncOp problem, linalg::FillOp fill,
                                                               const RowsStrategy &strategy, std::string *whyNot) {
  OpBuilder builder(problem);
  builder.setInsertionPointAfter(problem);
  IRMapping toFirst, toSecond;
  auto first = cast<func::FuncOp>(builder.clone(*problem, toFirst)),
       second = cast<func::FuncOp>(builder.clone(*problem, toSecond));
  first.setName((problem.getName() + "_fill").str());
  auto ops = llvm::to_vector(llvm::make_pointer_range(first.getBody().front().without_terminator()));
  for (Operation *op : llvm::reverse(ops))
    if (op != toFirst.lookup(fill.getOperation()) && op->use_empty())
      op->erase();
  toSecond.lookup(fill.getOperation())->erase();
  SmallVector<func::FuncOp> kernels;
  bool isScheduled = true;
  for (func::FuncOp part : {first, second}) {
    auto scheduled = scheduleChain(part, strategy, isScheduled ? whyNot : nullptr);
    isScheduled &= succeeded(scheduled);
    if (succeeded(scheduled))
      kernels.append(*scheduled);
    part.erase();
  }
  for (func::FuncOp kernel : kernels)
    setProblem(kernel, problem.getName());
  if (isScheduled)
    return kernels;
  for (func::FuncOp kernel : kernels)
    kernel.erase();
  return failure();
}

FailureOr<SmallVector<func::FuncOp>> quern::scheduleRows(const Problem &problem, const RowsStrategy &strategy,
                                                         std::string *whyNot) {
  linalg::FillOp fill = problem.function.getBody().hasOneBlock() ? overwrittenFill(problem.function) : linalg::FillOp();
  return fill ? scheduleBehindFill(problem.function, fill, strategy, whyNot) : scheduleChain(problem, strategy, whyNot);
}
