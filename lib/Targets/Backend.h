//===- Backend.h - The interface of a kind of target ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that differs between kinds of targets after `emit`: the recipes that schedule a problem and their order,
// the lowering of kernels, and code generation. The compiler uses targets only through this interface.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_BACKEND_H
#define QUERN_TARGETS_BACKEND_H

#include "Artifact/Artifact.h"
#include "Desc/Target.h"
#include "Schedule/Problem/Match.h"
#include "Targets/CodeForm.h"
#include "Targets/CodeListing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <optional>
#include <string>

namespace quern {

/// A recipe, as used by a kind of target.
struct TargetRecipe {
  const char *name;
  /// Returns a match, or null with a reason.
  MatchPtr (*match)(const schedule::Problem &problem, const Target &target, std::string &whyNot);
};

/// Properties of all targets of a kind.
struct BackendTraits {
  CodeKind codeKind;           ///< kind of its artifacts
  const char *assemblyComment; ///< prefix of comments in its assembly
  /// True if runtime sizes are passed to a kernel by value; otherwise they are in the context of the execution.
  bool passesSizes;
  llvm::ArrayRef<TargetRecipe> recipes; ///< in the order in which they are preferred
};

/// The targets of one kind; for CPUs, of one architecture. Keeps data that lowering and code generation reuse between
/// kernels. Used by one thread and with one context at a time.
class Backend {
public:
  static std::unique_ptr<Backend> create(const Target &target);
  virtual ~Backend() = default;

  /// Returns the match of the first recipe for which it is not a fallback; otherwise the first fallback. Returns null
  /// if no recipe supports the problem; `whyNot` then has the reason of each, in one line.
  MatchPtr match(const schedule::Problem &problem, const Target &target, std::string &whyNot) const;

  /// Builds the data for `context` that `lower` would otherwise build on its first call. The context must have all
  /// dialects loaded.
  virtual void prepare(mlir::MLIRContext &context) = 0;
  /// Lowers the kernels of `module` to functions of the LLVM dialect. Diagnoses operations that cannot be lowered.
  virtual mlir::LogicalResult lower(mlir::ModuleOp module, const Target &target, bool verifyIr) = 0;
  /// Generates the given form of a lowered module; `module` is unchanged. Fails with `unimplemented` and the feature if
  /// LLVM's back end or the target does not support it; other errors are `internal` or `out_of_memory`. With
  /// `verifyIr`, LLVM's verifiers also run.
  virtual Result<std::string> codegen(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) = 0;
  /// Returns data about the instructions and innermost loops of a module's assembly; empty if the target has none.
  virtual Result<CodeListing> list(mlir::ModuleOp module, const Target &target) = 0;

  const BackendTraits traits;

protected:
  explicit Backend(const BackendTraits &traits) : traits(traits) {}
};

/// `Lowering` is constructed with a context and runs on any number of its modules; `Codegen` runs on any number of
/// modules.
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
