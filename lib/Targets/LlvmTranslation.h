//===- LlvmTranslation.h - The LLVM dialect as a module of LLVM ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the `codegen` stages of all targets begin with.
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

/// Keeps the first of LLVM's complaints, which it would print, for as long as this lives.
class KeptComplaints {
public:
  explicit KeptComplaints(llvm::LLVMContext &context);
  ~KeptComplaints();
  /// Empty if there was none.
  const std::string &first() const { return text; }

private:
  llvm::LLVMContext &context;
  std::string text;
};

/// LLVM's target, which has been initialized, of this triple.
Result<const llvm::Target *> llvmTargetOf(const llvm::Triple &triple);

/// A lowered module, which stays as it is, for the machine. `prepare` works on it before LLVM's verifier
/// does, if that is asked for.
Result<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                      llvm::TargetMachine &machine, bool verifyIr,
                                                      llvm::function_ref<void(llvm::Module &)> prepare);

std::string textOf(const llvm::Module &module);

} // namespace quern

#endif // QUERN_TARGETS_LLVMTRANSLATION_H
