//===- Backend.cpp - The interface of a kind of target --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Backend.h"

#include "Targets/Cpu/Backend.h"
#include "Targets/Spirv/Backend.h"

using namespace quern;
using namespace quern::schedule;

std::unique_ptr<Backend> Backend::create(const Target &target) {
  switch (target.kind) {
  case TargetKind::Cpu:
    return createCpuBackend(archOf(target.isa));
  case TargetKind::Spirv:
    return createSpirvBackend();
  }
  llvm_unreachable("a kind of target without a backend");
}

Kernels Backend::schedule(const Problem &problem, const Target &target, std::string &whyNot) const {
  llvm::SmallVector<std::string, 4> reasons(traits.schedules.size());
  for (bool isLastResort : {false, true})
    for (auto [schedule, reason] : llvm::zip_equal(traits.schedules, reasons)) {
      if (isLastResort && !schedule.hasLastResort)
        continue;
      reason.clear();
      if (Kernels kernels = schedule.run(problem, target, isLastResort, &reason); mlir::succeeded(kernels))
        return kernels;
    }
  whyNot.clear();
  for (auto [schedule, reason] : llvm::zip_equal(traits.schedules, reasons))
    whyNot += (whyNot.empty() ? "" : "; ") + std::string(schedule.name) + ": " + reason;
  return mlir::failure();
}
