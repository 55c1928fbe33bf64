//===- Backend.h - What the compiler asks of a kind of target -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything in which kinds of targets differ behind `emit`: which recipes schedule a problem, in which order, how
// kernels are lowered, what code is made of them. The compiler knows no more of a target than this.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_BACKEND_H
#define QUERN_TARGETS_BACKEND_H

#include "Artifact/Artifact.h"
#include "Desc/Target.h"
#include "Schedule/Problem/Problem.h"
#include "Targets/CodeForm.h"
#include "Targets/CodeListing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <optional>
#include <string>

namespace quern {

using Kernels = mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>;

/// One recipe, as a kind of target uses it.
struct Schedule {
  const char *name;
  /// `isLastResort`: nobody takes the problem otherwise.
  Kernels (*run)(const Problem &problem, const Target &target, bool isLastResort, std::string *whyNot);
  bool hasLastResort; ///< there are problems that it would rather leave to others
};

/// What is the same for all targets of a kind.
struct BackendTraits {
  CodeKind codeKind;           ///< of its artifacts
  const char *assemblyComment; ///< what a comment begins with in the assembly that it makes
  /// Runtime sizes are arguments of a kernel, by value; else they are in the context of the execution.
  bool passesSizes;
  llvm::ArrayRef<Schedule> schedules;
};

/// The targets of one kind, of CPUs those of one architecture. Keeps what lowering and code generation reuse from one
/// kernel to the next: of one thread and one context at a time.
class Backend {
public:
  static std::unique_ptr<Backend> create(const Target &target);
  virtual ~Backend() = default;

  /// Makes kernels of `problem`, behind it, by the first schedule that takes it; where none does, those that have a
  /// last resort are asked for it. `problem` stays. Fails without a diagnostic where that, too, is refused; `whyNot`
  /// then has the reason of each, in one line.
  Kernels schedule(const Problem &problem, const Target &target, std::string &whyNot) const;

  /// Builds for `context`, which has all dialects loaded, what `lower` otherwise builds when it is first called.
  virtual void prepare(mlir::MLIRContext &context) = 0;
  /// Turns the kernels of `module` into functions of the LLVM dialect. Diagnoses what cannot be lowered.
  virtual mlir::LogicalResult lower(mlir::ModuleOp module, const Target &target, bool verifyIr) = 0;
  /// A lowered module in the given form; `module` is unchanged. `unimplemented` names what LLVM's back end or the
  /// target does not take, any other error is `internal`. With `verifyIr`, LLVM's verifiers run, too.
  virtual Result<std::string> codegen(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) = 0;
  /// What is known of the instructions of a module's assembly beside their text; empty where nothing is.
  virtual Result<CodeListing> list(mlir::ModuleOp module, const Target &target) = 0;

  const BackendTraits traits;

protected:
  explicit Backend(const BackendTraits &traits) : traits(traits) {}
};

/// `Lowering` is made of a context and runs on any number of its modules; `Codegen` runs on any number of modules.
template <typename Lowering, typename Codegen> class BackendOf final : public Backend {
public:
  explicit BackendOf(const BackendTraits &traits) : Backend(traits) {}
  void prepare(mlir::MLIRContext &context) override {
    if (!lowering)
      lowering.emplace(context);
  }
  mlir::LogicalResult lower(mlir::ModuleOp module, const Target &target, bool verifyIr) override {
    prepare(*module.getContext());
    return lowering->run(module, target, verifyIr);
  }
  Result<std::string> codegen(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) override {
    return generator.run(module, target, form, verifyIr);
  }
  Result<CodeListing> list(mlir::ModuleOp module, const Target &target) override {
    if constexpr (requires { generator.list(module, target); })
      return generator.list(module, target);
    return CodeListing();
  }

private:
  std::optional<Lowering> lowering;
  Codegen generator;
};

} // namespace quern

#endif // QUERN_TARGETS_BACKEND_H
