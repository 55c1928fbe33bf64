//===- Codegen.h - LLVM dialect to assembly and objects -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `codegen` stage. What is generated depends on the IR and on the target's text alone, never on the machine that
// compiles: an object is position-independent, has no undefined symbol and runs on every CPU of its level.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_CODEGEN_H
#define QUERN_TARGETS_CPU_CODEGEN_H

#include "Desc/Target.h"
#include "Support/Error.h"
#include "Targets/CodeForm.h"
#include "Targets/CodeListing.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace quern {

class ObjectPasses;

/// Keeps LLVM's context and a target machine for each instruction set it met. Not thread-safe.
class CpuCodegen {
public:
  CpuCodegen();
  ~CpuCodegen();

  /// `module` is what CpuLowering made; its kernels become the exported symbols. Errors are `internal`: a
  /// kernel that was scheduled and lowered must compile. With `verifyIr`, LLVM's verifiers run on the IR
  /// and between machine passes.
  Result<std::string> run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr);

  /// What is known of the instructions that run() writes for the same module, and of the innermost loops on processors
  /// of the target; empty for code that takes LLVM's own list of passes.
  Result<CodeListing> list(mlir::ModuleOp module, const Target &target);

private:
  Result<llvm::TargetMachine *> machineFor(const Target &target);
  /// What `work` on the module says. `internal` where LLVM would end the process: the module and all that this kept are
  /// then let go of, and the next run begins anew.
  Result<bool> generate(std::unique_ptr<llvm::Module> &module, llvm::function_ref<bool()> work);
  /// By passes that are kept for the next module.
  void emitObject(llvm::Module &module, llvm::TargetMachine &machine, const Target &target,
                  llvm::SmallVectorImpl<char> &bytes);
  std::unique_ptr<llvm::LLVMContext> context;
  std::map<CpuIsa, std::unique_ptr<llvm::TargetMachine>> machines;
  std::map<CpuIsa, std::unique_ptr<ObjectPasses>> objectPasses;
};

/// Fails, naming it, if an ELF object refers to a symbol that it does not define.
Result<void> checkSelfContained(llvm::StringRef object);

} // namespace quern

#endif // QUERN_TARGETS_CPU_CODEGEN_H
