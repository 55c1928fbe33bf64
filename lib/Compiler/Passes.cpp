//===- Passes.cpp - The stages as passes ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Wraps the functions of quern-compiler/Compiler.h, for textual pipelines.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Passes.h"

#include "Compiler/RecipePasses.h"
#include "Targets/Cpu/Pipeline.h"
#include "Transforms/Transforms.h"
#include "quern-compiler/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;

namespace quern::compiler {
namespace {

/// Base of both stage passes: a target option, and one function that is called on the module.
template <typename Derived> struct StagePass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  StagePass() = default;
  explicit StagePass(StringRef text) { target = text.str(); }
  StagePass(const StagePass &other) : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}
  void getDependentDialects(DialectRegistry &registry) const override { registerAllStageDialects(registry); }
  Pass::Option<std::string> target{*this, "target", llvm::cl::desc("Instruction set, or native (default: native)"),
                                   llvm::cl::init("native")};
};

struct SchedulePass : StagePass<SchedulePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SchedulePass)
  using StagePass::StagePass;
  StringRef getArgument() const override { return "quern-schedule"; }
  StringRef getDescription() const override {
    return "Schedule linalg problems into vector kernels by the recipe that matches";
  }
  void runOnOperation() override {
    if (failed(schedule(getOperation(), target)))
      signalPassFailure();
  }
};

struct LowerPass : StagePass<LowerPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerPass)
  using StagePass::StagePass;
  StringRef getArgument() const override { return "quern-lower"; }
  StringRef getDescription() const override {
    return "Lower scheduled kernels to the LLVM dialect, with the kernel ABI";
  }
  void runOnOperation() override {
    if (failed(lower(getOperation(), target)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createSchedulePass(StringRef target) { return std::make_unique<SchedulePass>(target); }
std::unique_ptr<Pass> createLowerPass(StringRef target) { return std::make_unique<LowerPass>(target); }

void registerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerTransformPasses();
    registerRecipePasses();
    registerPass([] { return createSchedulePass(); });
    registerPass([] { return createLowerPass(); });
  });
}

} // namespace quern::compiler
