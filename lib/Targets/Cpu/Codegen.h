//===- Codegen.h - From the LLVM dialect to machine code ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `codegen` stage. Generated code depends only on the IR and on the target's text, never on the machine that
// compiles: an object is position-independent, has no undefined symbols and runs on every CPU of its level.
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

/// Keeps an LLVM context and a target machine for each instruction set used so far. Not thread-safe.
class CpuCodegen {
public:
  CpuCodegen();
  ~CpuCodegen();

  /// Generates code for `module`, the output of CpuLowering; its kernels become the exported symbols. Errors are
  /// `internal`, because a kernel that was scheduled and lowered must compile, or `out_of_memory`. With `verifyIr`,
  /// LLVM's verifiers run on the IR and between machine passes.
  Result<std::string> run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr);

  /// Returns data about the instructions that run() emits for the same module, and about the innermost loops on
  /// processors of the target; empty for code that uses LLVM's own list of passes.
  Result<CodeListing> list(mlir::ModuleOp module, const Target &target);

private:
  Result<llvm::TargetMachine *> machineFor(const Target &target);
  /// Returns the result of `work` on the module. If LLVM would abort, or memory is exhausted, returns the error of
  /// returnFatalErrors(); the module and all kept objects are then leaked, and the next run creates new ones.
  Result<bool> generate(std::unique_ptr<llvm::Module> &module, llvm::function_ref<bool()> work);
  /// Appends the object of `module` to `bytes`. Uses passes that are kept for the next module.
  void emitObject(llvm::Module &module, llvm::TargetMachine &machine, const Target &target,
                  llvm::SmallVectorImpl<char> &bytes);
  std::unique_ptr<llvm::LLVMContext> context;
  std::map<CpuIsa, std::unique_ptr<llvm::TargetMachine>> machines;
  std::map<CpuIsa, std::unique_ptr<ObjectPasses>> objectPasses;
};

/// Checks that an ELF object defines every symbol that it refers to. Otherwise fails with the name of the symbol.
Result<void> checkSelfContained(llvm::StringRef object);

} // namespace quern

#endif // QUERN_TARGETS_CPU_CODEGEN_H
