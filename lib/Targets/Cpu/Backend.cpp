//===- Backend.cpp - The backend of CPUs ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Backend.h"

#include "Schedule/Batch/Batch.h"
#include "Targets/Cpu/Architecture.h"
#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Pipeline.h"
#include "Targets/Cpu/Strategy.h"

using namespace mlir;
using namespace quern;

namespace {

MatchPtr matchMapFor(const schedule::Problem &problem, const Target &target, std::string &whyNot) {
  return matchMap(problem, mapStrategyFor(target), whyNot);
}

MatchPtr matchContractionFor(const schedule::Problem &problem, const Target &target, std::string &whyNot) {
  return matchContraction(problem, contractionStrategyFor(target), whyNot);
}

/// Matches nested batches, down to one product.
MatchPtr matchBatchFor(const schedule::Problem &problem, const Target &target, std::string &whyNot) {
  auto matchOne = [&](const schedule::Problem &inner, std::string &why) -> MatchPtr {
    MatchPtr one = matchContractionFor(inner, target, why);
    if (one && !one->isFallback())
      return one;
    if (one)
      why = one->whyFallback;
    std::string whyNotNested;
    return matchBatchFor(inner, target, whyNotNested);
  };
  return matchBatch(problem, matchOne, whyNot);
}

MatchPtr matchRowsFor(const schedule::Problem &problem, const Target &target, std::string &whyNot) {
  return matchRows(problem, rowsStrategyFor(target), whyNot);
}

/// Contraction precedes rows, which treats a sum of products as an ordinary reduction.
constexpr TargetRecipe recipes[] = {
    {"map", matchMapFor}, {"contraction", matchContractionFor}, {"batch", matchBatchFor}, {"rows", matchRowsFor}};

} // namespace

std::unique_ptr<Backend> quern::createCpuBackend(CpuArch arch) {
  return std::make_unique<BackendOf<CpuLowering, CpuCodegen>>(
      BackendTraits{CodeKind::ElfObject, architectureOf(arch).assemblyComment, /*passesSizes=*/false, recipes});
}
