//===- Backend.cpp - The backend of SPIR-V devices ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Backend.h"

#include "Targets/Spirv/Codegen.h"
#include "Targets/Spirv/Pipeline.h"
#include "Targets/Spirv/Strategy.h"

using namespace quern;

namespace {

/// Matches with the strategy of the target's device.
template <auto recipe> MatchPtr matchFor(const schedule::Problem &problem, const Target &target, std::string &whyNot) {
  return recipe(problem, deviceStrategyFor(target.device), whyNot);
}

constexpr TargetRecipe recipes[] = {{"map", matchFor<matchDeviceMap>},
                                    {"contraction", matchFor<matchDeviceContraction>},
                                    {"rows", matchFor<matchDeviceRows>}};

} // namespace

std::unique_ptr<Backend> quern::createSpirvBackend() {
  return std::make_unique<BackendOf<SpirvLowering, SpirvCodegen>>(
      BackendTraits{CodeKind::SpirV, "; ", /*passesSizes=*/true, recipes});
}
