//===- Stages.h - The stages on MLIR modules ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the compiler, the passes for embedders and quern-opt: scheduling a module by the first recipe that matches,
// and a context with the objects that lowering and code generation reuse for later kernels.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_STAGES_H
#define QUERN_COMPILER_STAGES_H

#include "Desc/Target.h"
#include "Functions/Canonicalize/Upstream.h"
#include "Targets/Backend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <map>
#include <memory>
#include <string>

namespace quern {

/// Creates kernels of a problem, or fails with a one-line reason in `whyNot`.
using Scheduler = llvm::function_ref<mlir::FailureOr<Kernels>(mlir::func::FuncOp problem, std::string &whyNot)>;

/// Replaces every problem of `module` (a func.func without `quern.kernel`) by the kernels that `scheduler` creates, in
/// the order in which they run. On failure, `whyNot` has a one-line reason for the first problem that was refused, and
/// the module is partly scheduled. Emits no diagnostics.
mlir::LogicalResult scheduleProblems(mlir::ModuleOp module, Scheduler scheduler, std::string &whyNot);

/// Like scheduleProblems(), by the first recipe of `target` that supports each problem. Half bytes are paired or
/// unpacked before.
mlir::LogicalResult scheduleModule(mlir::ModuleOp module, const Backend &backend, const Target &target,
                                   std::string &whyNot);

/// The context of one compilation at a time. It is reused, because creating one costs as much as compiling a small
/// kernel.
class CompileContext {
public:
  /// Reading: also has the dialects of callers' modules, which no stage uses.
  enum class Use { Stages, Reading };
  explicit CompileContext(Use use = Use::Stages);

  mlir::MLIRContext context;
  const Use use;
  int uses = 0;
  /// Returns the backend for a kind of target, which is created on first use.
  Backend &backendFor(const Target &target);
  /// Returns MLIR's own passes, which are created when the first module is read. Requires Use::Reading.
  functions::Upstream &upstream();

private:
  std::map<std::pair<TargetKind, CpuArch>, std::unique_ptr<Backend>> backends;
  std::unique_ptr<functions::Upstream> upstreamPasses;
};

/// Exclusive use of a warm context, which is returned on destruction. Thread-safe; each concurrent lease has its own
/// context.
class ContextLease {
public:
  explicit ContextLease(CompileContext::Use use = CompileContext::Use::Stages);
  ~ContextLease();
  ContextLease(const ContextLease &) = delete;
  ContextLease &operator=(const ContextLease &) = delete;
  CompileContext &operator*() { return *context; }
  CompileContext *operator->() { return context.get(); }

private:
  std::unique_ptr<CompileContext> context;
};

} // namespace quern

#endif // QUERN_COMPILER_STAGES_H
