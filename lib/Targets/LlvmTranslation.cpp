//===- LlvmTranslation.cpp - The LLVM dialect as an LLVM module -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/LlvmTranslation.h"

#include "Targets/DirectTranslation.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace quern {
namespace {

struct KeepFirst : llvm::DiagnosticHandler {
  explicit KeepFirst(std::string &text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && text.empty()) {
      llvm::raw_string_ostream os(text);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }
  std::string &text;
};

} // namespace

KeptComplaints::KeptComplaints(llvm::LLVMContext &context) : context(context) {
  context.setDiagnosticHandler(std::make_unique<KeepFirst>(text));
}

KeptComplaints::~KeptComplaints() { context.setDiagnosticHandler(nullptr); }

Result<const llvm::Target *> llvmTargetOf(const llvm::Triple &triple) {
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target)
    return internalError("codegen: LLVM has no target for ", triple.str(), ": ", why);
  return target;
}

Result<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                      llvm::TargetMachine &machine, bool verifyIr,
                                                      llvm::function_ref<void(llvm::Module &)> prepare) {
  std::unique_ptr<llvm::Module> translated = translateKernels(module, context);
  if (!translated)
    translated = mlir::translateModuleToLLVMIR(module, context, "quern", !verifyIr);
  if (!translated)
    return internalError("codegen: the module does not translate to LLVM IR");
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  prepare(*translated);
  if (std::string why; verifyIr) {
    llvm::raw_string_ostream os(why);
    if (llvm::verifyModule(*translated, &os))
      return internalError("codegen: invalid LLVM IR: ", llvm::StringRef(why).split('\n').first.str());
  }
  return translated;
}

std::string textOf(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

} // namespace quern
