//===- Rows.cpp - The rows recipe on a device ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Rows.h"

#include "Schedule/Rows/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

struct DeviceMatch final : SingleMatch<RowChain, DeviceRowPlan, DeviceStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {DeviceRowEmitter(plan).emit(chain.problem)}; }
};

std::unique_ptr<DeviceMatch> planFor(const RowChain &chain, const DeviceStrategy &strategy) {
  auto match = std::make_unique<DeviceMatch>(Recipe::Rows, strategy);
  match->chain = chain;
  planDeviceRows(match->plan);
  return match;
}

} // namespace

MatchPtr quern::matchDeviceRows(const Problem &problem, const DeviceStrategy &strategy, std::string &whyNot) {
  RowChain chain;
  if (failed(matchRowChain(problem, chain, whyNot)))
    return nullptr;
  std::unique_ptr<DeviceMatch> match = planFor(chain, strategy);
  std::string whyFallback = match->plan.whyFallback;
  if (whyFallback.empty() && fitsGroupMemory(match->plan.reductionBytes(), strategy, whyFallback))
    return match;
  match = planFor(chain, withoutGroupMemory(strategy));
  match->whyFallback = whyFallback;
  return match;
}
