//===- Rows.cpp - The rows recipe ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Rows.h"

#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

/// A chain of a problem and its plan.
struct PlannedChain {
  explicit PlannedChain(const RowsStrategy &strategy) : plan(chain, strategy) {}
  LogicalResult read(const Problem &problem, std::string &whyNot) {
    return success(succeeded(matchRowChain(problem, chain, whyNot)) && succeeded(planRows(plan, whyNot)));
  }
  /// Appends the kernels after those in `kernels`, which follow `problem`.
  void emit(func::FuncOp problem, Kernels &kernels);

  OwningOpRef<func::FuncOp> part; ///< the function of the chain, if it is only a part of the problem
  RowChain chain;
  RowPlan plan;
};

class RowsMatch final : public Match {
public:
  explicit RowsMatch(func::FuncOp problem) : Match(Recipe::Rows), problem(problem) {}
  SmallVector<PlanAttr> plans() override;
  Kernels emit() override;

  func::FuncOp problem;
  SmallVector<std::unique_ptr<PlannedChain>, 2> chains;
};

void PlannedChain::emit(func::FuncOp problem, Kernels &kernels) {
  auto last = [&]() -> Operation * { return kernels.empty() ? problem : kernels.back(); };
  if (plan.vectors.wholeRows) {
    kernels.push_back(WholeRowEmitter(plan).emit(last()));
    return;
  }
  for (int sweep = 0; sweep < (plan.space.isSplit() ? plan.sweeps : 1); ++sweep)
    kernels.push_back(SweepEmitter(plan, sweep).emit(last()));
}

SmallVector<PlanAttr> RowsMatch::plans() {
  SmallVector<PlanAttr> plans;
  for (const auto &chain : chains)
    for (int sweep = 0; sweep < (chain->plan.space.isSplit() ? chain->plan.sweeps : 1); ++sweep)
      plans.push_back(chain->plan.attribute(sweep));
  return plans;
}

Kernels RowsMatch::emit() {
  Kernels kernels;
  for (const auto &chain : chains)
    chain->emit(problem, kernels);
  // A launch program calls kernels by the name of their problem.
  for (func::FuncOp kernel : kernels)
    if (auto attribute = attrOf<KernelAttr>(kernel); attribute.getProblem() != problem.getName())
      kernel->setAttr(KernelAttr::name, attribute.withProblem(problem.getName()));
  return kernels;
}

/// Returns a fill of an argument that another op overwrites, at least partly; null if there is none.
linalg::FillOp overwrittenFill(func::FuncOp problem) {
  if (!problem.getBody().hasOneBlock())
    return {};
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

/// Returns copies of a problem: with only the fill, and without it.
std::pair<func::FuncOp, func::FuncOp> splitFill(func::FuncOp problem, linalg::FillOp fill) {
  IRMapping toFirst, toSecond;
  auto first = cast<func::FuncOp>(problem->clone(toFirst)), second = cast<func::FuncOp>(problem->clone(toSecond));
  first.setName((problem.getName() + "_fill").str());
  auto ops = llvm::to_vector(llvm::make_pointer_range(first.getBody().front().without_terminator()));
  for (Operation *op : llvm::reverse(ops))
    if (op != toFirst.lookup(fill.getOperation()) && op->use_empty())
      op->erase();
  toSecond.lookup(fill.getOperation())->erase();
  return {first, second};
}

} // namespace

MatchPtr quern::matchRows(const Problem &problem, const RowsStrategy &strategy, std::string &whyNot) {
  auto match = std::make_unique<RowsMatch>(problem.function);
  auto add = [&](const Problem &part) {
    match->chains.push_back(std::make_unique<PlannedChain>(strategy));
    return succeeded(match->chains.back()->read(part, whyNot));
  };
  linalg::FillOp fill = overwrittenFill(problem.function);
  if (!fill)
    return add(problem) ? std::move(match) : nullptr;
  auto [first, second] = splitFill(problem.function, fill);
  OwningOpRef<func::FuncOp> ofFirst(first), ofSecond(second);
  if (!add(first) || !add(second))
    return nullptr;
  match->chains[0]->part = std::move(ofFirst);
  match->chains[1]->part = std::move(ofSecond);
  return match;
}
