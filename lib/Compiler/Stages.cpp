//===- Stages.cpp - The stages on MLIR modules ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A context keeps types and attributes for its lifetime, so a lease deletes it after a number of compilations, to limit
// the memory of a long-running process. Idle contexts in excess of a few are freed.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Stages.h"

#include "Functions/Functions.h"
#include "IR/Naive.h"
#include "IR/QuernDialect.h"
#include "Targets/KernelLowering.h"
#include "Transforms/Packed/PackedElements.h"
#include "Transforms/Packed/SharedBuffers.h"
#include "Transforms/Transforms.h"

#include <mutex>
#include <vector>

using namespace mlir;

namespace quern {
namespace {

constexpr int maxUses = 512;
constexpr size_t maxIdle = 4;

MLIRContext::Threading noThreads() { return MLIRContext::Threading::DISABLED; }

DialectRegistry registryFor(CompileContext::Use use) {
  DialectRegistry registry;
  registerAllStageDialects(registry);
  if (use == CompileContext::Use::Reading)
    functions::registerDialects(registry);
  return registry;
}

struct IdleContexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<CompileContext>> contexts;
  /// Returns an object that is never destroyed, because a thread may still compile while static destructors run.
  static IdleContexts &instance(CompileContext::Use use) {
    static auto *idle = new IdleContexts[2];
    return idle[static_cast<int>(use)];
  }
};

/// Returns an idle context, or null. A context for reading also serves the stages, because it has their dialects.
std::unique_ptr<CompileContext> takeIdle(CompileContext::Use use) {
  const bool isReading = use == CompileContext::Use::Reading;
  {
    IdleContexts &idle = IdleContexts::instance(use);
    std::lock_guard<std::mutex> lock(idle.mutex);
    if (!idle.contexts.empty()) {
      auto context = std::move(idle.contexts.back());
      idle.contexts.pop_back();
      return context;
    }
  }
  return isReading ? nullptr : takeIdle(CompileContext::Use::Reading);
}

} // namespace

LogicalResult scheduleProblems(ModuleOp module, Scheduler scheduler, std::string &whyNot) {
  int64_t sharedEnd = endOfSharedBuffers(module);
  for (auto problem : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (isKernel(problem))
      continue;
    std::string reasons;
    auto kernels = scheduler(problem, reasons);
    if (failed(kernels)) {
      whyNot = "no recipe schedules @" + problem.getName().str() + ": " + reasons;
      return failure();
    }
    for (func::FuncOp kernel : *kernels)
      bindSharedBuffers(kernel, sharedEnd);
    problem.erase();
  }
  return success();
}

/// Lowers a copy of a problem to scalar loops, in a kernel after it.
static FailureOr<Kernels> lowerCopyNaively(func::FuncOp problem, bool widens, std::string &reasons) {
  OpBuilder builder(problem);
  builder.setInsertionPointAfter(problem);
  auto kernel = cast<func::FuncOp>(builder.clone(*problem));
  kernel->removeAttr(attr::naive);
  if (succeeded(lowerNaively(kernel, widens)))
    return Kernels{kernel};
  kernel.erase();
  reasons = "the naive lowering refuses it";
  return failure();
}

LogicalResult scheduleModule(ModuleOp module, const Backend &backend, const Target &target, std::string &whyNot) {
  pairElements(module);
  if (failed(unpackElements(module, whyNot)))
    return failure();
  auto scheduler = [&](func::FuncOp problem, std::string &reasons) -> FailureOr<Kernels> {
    if (auto widens = problem->getAttrOfType<BoolAttr>(attr::naive))
      return lowerCopyNaively(problem, widens.getValue(), reasons);
    MatchPtr match = backend.match(problem, target, reasons);
    if (!match)
      return failure();
    return match->emit();
  };
  return scheduleProblems(module, scheduler, whyNot);
}

Backend &CompileContext::backendFor(const Target &target) {
  std::unique_ptr<Backend> &backend = backends[{target.kind, archOf(target.isa)}];
  if (!backend) {
    backend = Backend::create(target);
    backend->prepare(context);
  }
  return *backend;
}

functions::Upstream &CompileContext::upstream() {
  if (!upstreamPasses)
    upstreamPasses = std::make_unique<functions::Upstream>(context);
  return *upstreamPasses;
}

CompileContext::CompileContext(Use use) : context(registryFor(use), noThreads()), use(use) {
  context.loadAllAvailableDialects();
}

ContextLease::ContextLease(CompileContext::Use use) : context(takeIdle(use)) {
  if (!context)
    context = std::make_unique<CompileContext>(use);
}

ContextLease::~ContextLease() {
  if (++context->uses >= maxUses)
    return;
  IdleContexts &idle = IdleContexts::instance(context->use);
  std::lock_guard<std::mutex> lock(idle.mutex);
  if (idle.contexts.size() < maxIdle)
    idle.contexts.push_back(std::move(context));
}

} // namespace quern
