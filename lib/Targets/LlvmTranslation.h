//===- LlvmTranslation.h - The LLVM dialect as an LLVM module -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// First part of the `codegen` stages of all targets.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_LLVMTRANSLATION_H
#define QUERN_TARGETS_LLVMTRANSLATION_H

#include "Support/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class Target;
class TargetMachine;
class Triple;
} // namespace llvm

namespace quern {

/// Keeps the first error that LLVM reports, instead of printing it, during its lifetime.
class KeptComplaints {
public:
  explicit KeptComplaints(llvm::LLVMContext &context);
  ~KeptComplaints();
  /// Returns the first error; empty if there was none.
  const std::string &first() const { return text; }

private:
  llvm::LLVMContext &context;
  std::string text;
};

/// Returns LLVM's target of this triple, which must have been initialized.
Result<const llvm::Target *> llvmTargetOf(const llvm::Triple &triple);

/// Translates a lowered module, which is unchanged, for the machine. `prepare` modifies the result before LLVM's
/// verifier runs, if requested.
Result<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                      llvm::TargetMachine &machine, bool verifyIr,
                                                      llvm::function_ref<void(llvm::Module &)> prepare);

std::string textOf(const llvm::Module &module);

} // namespace quern

#endif // QUERN_TARGETS_LLVMTRANSLATION_H
