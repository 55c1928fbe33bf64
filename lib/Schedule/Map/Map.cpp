//===- Map.cpp - The map recipe ------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads, plans and emits. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Map.h"

#include "Schedule/Map/Cpu/Emitter.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

struct MapMatch final : SingleMatch<MapProblem, MapPlan, MapStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {chain.hasOpenSizes() ? VariantEmitter(plan).emit() : MapEmitter(plan).emit()}; }
};

} // namespace

MatchPtr quern::matchMap(const Problem &problem, const MapStrategy &strategy, std::string &whyNot) {
  auto match = std::make_unique<MapMatch>(Recipe::Map, strategy);
  if (failed(readMap(problem, match->chain, whyNot)))
    return nullptr;
  if (!match->chain.hasOpenSizes())
    planMap(match->plan);
  else if (failed(planOpen(match->plan, whyNot)))
    return nullptr;
  return match;
}
