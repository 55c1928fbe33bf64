//===- Stages.h - The stages on MLIR modules ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the compiler, the passes for embedders and quern-opt share: scheduling a module by whichever recipe matches, and
// a context with everything that lowering and code generation reuse from one kernel to the next.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_STAGES_H
#define QUERN_COMPILER_STAGES_H

#include "Desc/Target.h"
#include "Functions/Forms/Upstream.h"
#include "Targets/Backend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <map>
#include <memory>
#include <string>

namespace quern {

/// Makes kernels of a problem, or says in one line why not.
using Scheduler = llvm::function_ref<Kernels(mlir::func::FuncOp problem, std::string &whyNot)>;

/// Replaces every problem of `module` (a func.func without `quern.kernel`) by the kernels that `scheduler` makes of it,
/// in the order in which they run. On failure `whyNot` has, in one line, why the first problem that was not taken was
/// not; the module is then partly scheduled. Nothing is diagnosed.
mlir::LogicalResult scheduleProblems(mlir::ModuleOp module, Scheduler scheduler, std::string &whyNot);

/// Likewise by the first recipe of `target` that takes it, half bytes made whole before.
mlir::LogicalResult scheduleModule(mlir::ModuleOp module, const Backend &backend, const Target &target,
                                   std::string &whyNot);

/// The context of one compilation at a time, kept warm between compilations: making one costs as much as
/// compiling a small kernel.
class CompileContext {
public:
  /// Callers' modules have dialects that no stage has.
  enum class Use { Stages, Reading };
  explicit CompileContext(Use use = Use::Stages);

  mlir::MLIRContext context;
  const Use use;
  int uses = 0;
  /// Made when a target of the kind is first compiled for.
  Backend &backendFor(const Target &target);
  /// For Use::Reading; made when the first module is read.
  functions::Upstream &upstream();

private:
  std::map<std::pair<TargetKind, CpuArch>, std::unique_ptr<Backend>> backends;
  std::unique_ptr<functions::Upstream> own;
};

/// A warm context for the caller alone, given back on destruction. Thread-safe: as many threads compile as ask.
class ContextLease {
public:
  explicit ContextLease(CompileContext::Use use = CompileContext::Use::Stages);
  ~ContextLease();
  ContextLease(const ContextLease &) = delete;
  ContextLease &operator=(const ContextLease &) = delete;
  CompileContext &operator*() { return *held; }
  CompileContext *operator->() { return held.get(); }

private:
  std::unique_ptr<CompileContext> held;
};

} // namespace quern

#endif // QUERN_COMPILER_STAGES_H
