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
using namespace quern::schedule;

namespace {

Kernels runMap(const Problem &problem, const Target &target, bool, std::string *whyNot) {
  return scheduleMap(problem, mapStrategyFor(target), whyNot);
}

Kernels runContraction(const Problem &problem, const Target &target, bool isLastResort, std::string *whyNot) {
  ContractionStrategy strategy = contractionStrategyFor(target);
  strategy.isLastResort = isLastResort;
  return scheduleContraction(problem, strategy, whyNot);
}

/// Schedules nested batches, down to one product.
Kernels runBatch(const Problem &problem, const Target &target, bool, std::string *whyNot) {
  auto one = [&](const Problem &inner, std::string *why) -> Kernels {
    Kernels kernels = runContraction(inner, target, /*isLastResort=*/false, why);
    return succeeded(kernels) ? kernels : runBatch(inner, target, false, nullptr);
  };
  return scheduleBatch(problem, one, whyNot);
}

Kernels runRows(const Problem &problem, const Target &target, bool, std::string *whyNot) {
  return scheduleRows(problem, rowsStrategyFor(target), whyNot);
}

/// Contraction precedes rows, which treats a sum of products as an ordinary reduction.
constexpr Schedule schedules[] = {{"map", runMap, false},
                                  {"contraction", runContraction, true},
                                  {"batch", runBatch, false},
                                  {"rows", runRows, false}};

} // namespace

std::unique_ptr<Backend> quern::createCpuBackend(CpuArch arch) {
  return std::make_unique<BackendOf<CpuLowering, CpuCodegen>>(
      BackendTraits{CodeKind::ElfObject, architectureOf(arch).assemblyComment, /*passesSizes=*/false, schedules});
}
