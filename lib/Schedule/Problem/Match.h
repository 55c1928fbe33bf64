//===- Match.h - A problem that a recipe supports -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A recipe reads a problem and plans its kernels without writing IR: the result is a match, or a reason why the recipe
// does not support the problem. Emission cannot fail.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_MATCH_H
#define QUERN_SCHEDULE_PROBLEM_MATCH_H

#include "IR/Plan.h"
#include "Schedule/Problem/Problem.h"

#include <memory>
#include <string>
#include <utility>

namespace quern {

using Kernels = llvm::SmallVector<mlir::func::FuncOp>;

/// The kernels of a problem as planned by a recipe. Valid until the problem is modified or erased.
class Match {
public:
  explicit Match(Recipe recipe) : recipe(recipe) {}
  virtual ~Match() = default;
  Match(const Match &) = delete;
  Match &operator=(const Match &) = delete;

  /// Returns the plans of the kernels in the order in which they run.
  virtual llvm::SmallVector<PlanAttr> plans() = 0;
  /// Inserts the kernels in this order after the problem, which is in a module and is kept. Must be called at most
  /// once.
  virtual Kernels emit() = 0;

  const Recipe recipe;
  /// Reason why any other recipe that supports the problem is preferred; empty: this match is preferred.
  std::string whyFallback;
  bool isFallback() const { return !whyFallback.empty(); }
};

/// A match with one kernel. `Chain` is the recipe's analysis of the problem; `Plan` has the decisions for a strategy.
template <typename Chain, typename Plan, typename Strategy> class SingleMatch : public Match {
public:
  SingleMatch(Recipe recipe, const Strategy &strategy)
      : Match(recipe), strategy(strategy), plan(chain, this->strategy) {}
  llvm::SmallVector<PlanAttr> plans() override { return {plan.attribute()}; }

  const Strategy strategy;
  Chain chain;
  Plan plan;
};

/// Null if a recipe does not support a problem.
using MatchPtr = std::unique_ptr<Match>;

} // namespace quern

#endif // QUERN_SCHEDULE_PROBLEM_MATCH_H
