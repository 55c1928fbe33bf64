//===- Backend.cpp - The interface of a kind of target --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Backend.h"

#include "Targets/Cpu/Backend.h"
#include "Targets/Spirv/Backend.h"

using namespace quern;

std::unique_ptr<Backend> Backend::create(const Target &target) {
  switch (target.kind) {
  case TargetKind::Cpu:
    return createCpuBackend(archOf(target.isa));
  case TargetKind::Spirv:
    return createSpirvBackend();
  }
  llvm_unreachable("a kind of target without a backend");
}

MatchPtr Backend::match(const schedule::Problem &problem, const Target &target, std::string &whyNot) const {
  MatchPtr fallback;
  std::string reasons;
  for (const TargetRecipe &recipe : traits.recipes) {
    std::string reason;
    MatchPtr match = recipe.match(problem, target, reason);
    if (match && !match->isFallback())
      return match;
    if (!match)
      reasons += (reasons.empty() ? "" : "; ") + std::string(recipe.name) + ": " + reason;
    else if (!fallback)
      fallback = std::move(match);
  }
  whyNot = std::move(reasons);
  return fallback;
}
