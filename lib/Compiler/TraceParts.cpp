//===- TraceParts.cpp - Additional parts of a trace -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compiler/TraceParts.h"

#include "IR/Naive.h"
#include "IR/QuernDialect.h"
#include "Transforms/Packed/PackedElements.h"

using namespace mlir;

namespace quern {
namespace {

llvm::json::Object opinionOf(const TargetRecipe &recipe, const schedule::Problem &problem, const Target &target) {
  std::string reason;
  MatchPtr match = recipe.match(problem, target, reason);
  const bool supports = match && !match->isFallback();
  if (match)
    reason = supports ? textOf(match->plans()) : match->whyFallback;
  return llvm::json::Object{{"recipe", recipe.name}, {"takes", supports}, {"why", reason}};
}

} // namespace

llvm::json::Array opinionsAsJson(ModuleOp module, const Backend &backend, const Target &target) {
  OwningOpRef<ModuleOp> copy(module.clone());
  pairElements(*copy);
  std::string whyNot;
  llvm::json::Array all;
  if (failed(unpackElements(*copy, whyNot)))
    return all;
  for (auto problem : llvm::to_vector(copy->getOps<func::FuncOp>())) {
    if (isKernel(problem))
      continue;
    llvm::json::Array opinions;
    if (problem->hasAttr(attr::naive))
      opinions.push_back(llvm::json::Object{
          {"recipe", "naive"}, {"takes", true}, {"why", "loop by loop, which the caller allows; no recipe is tried"}});
    else
      for (const TargetRecipe &recipe : backend.traits.recipes)
        opinions.push_back(opinionOf(recipe, problem, target));
    all.push_back(llvm::json::Object{{"problem", problem.getName()}, {"opinions", std::move(opinions)}});
  }
  return all;
}

llvm::json::Object programAsJson(const Artifact &artifact, const std::vector<ArgumentInfo> &arguments,
                                 ArrayRef<Launch::Region> regions) {
  llvm::json::Array buffers, steps, loops;
  for (const ArgumentInfo &argument : arguments)
    buffers.push_back(
        llvm::json::Object{{"name", argument.name},
                           {"kind", argument.isOutput ? "written" : "read"},
                           {"bytes", argument.desc.hasRuntimeDims() ? "?" : std::to_string(argument.desc.bytes())}});
  for (const Launch::Region &region : regions)
    buffers.push_back(llvm::json::Object{{"name", region.name}, {"kind", "region"}, {"bytes", region.bytes.text()}});
  for (const LaunchStep &step : artifact.steps) {
    llvm::json::Array used;
    for (const StepBuffer &buffer : step.buffers)
      used.push_back(llvm::json::Array{buffer.buffer, buffer.byteOffset.text()});
    if (step.buffers.empty())
      for (size_t position = 0; position < arguments.size(); ++position)
        used.push_back(llvm::json::Array{static_cast<int64_t>(position), "0"});
    std::string iterations = std::to_string(step.iterations);
    for (const SizeFactor &factor : step.factors)
      iterations +=
          " * s" + std::to_string(factor.sizeIndex) + (factor.divisor > 1 ? "/" + std::to_string(factor.divisor) : "");
    steps.push_back(llvm::json::Object{{"kernel", artifact.entries[step.entry]},
                                       {"iterations", iterations},
                                       {"buffers", std::move(used)},
                                       {"independent", step.independentOfPrevious}});
  }
  for (const LaunchLoop &loop : artifact.loops)
    loops.push_back(llvm::json::Object{{"trips", loop.trips.text()}, {"first", loop.first}, {"end", loop.end}});
  return llvm::json::Object{{"buffers", std::move(buffers)}, {"steps", std::move(steps)}, {"loops", std::move(loops)}};
}

} // namespace quern
