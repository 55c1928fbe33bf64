//===- Map.cpp - The map recipe on a device ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Map.h"

#include "Schedule/Map/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

struct DeviceMatch final : SingleMatch<MapProblem, DeviceMapPlan, DeviceStrategy> {
  using SingleMatch::SingleMatch;
  Kernels emit() override { return {DeviceMapEmitter(plan).emit()}; }
};

std::unique_ptr<DeviceMatch> planFor(const MapProblem &map, const DeviceStrategy &strategy) {
  auto match = std::make_unique<DeviceMatch>(Recipe::Map, strategy);
  match->chain = map;
  planDeviceMap(match->plan);
  return match;
}

} // namespace

MatchPtr quern::matchDeviceMap(const Problem &problem, const DeviceStrategy &strategy, std::string &whyNot) {
  MapProblem map;
  if (failed(readMap(problem, map, whyNot, /*ofDevice=*/true)))
    return nullptr;
  std::unique_ptr<DeviceMatch> match = planFor(map, strategy);
  std::string whyFallback;
  if (!fitsGroupMemory(match->plan.groupBytes(), strategy, whyFallback)) {
    match = planFor(map, withoutGroupMemory(strategy));
    match->whyFallback = whyFallback;
  }
  return match;
}
