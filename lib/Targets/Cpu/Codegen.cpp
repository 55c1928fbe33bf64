//===- Codegen.cpp - From the LLVM dialect to machine code ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels arrive scheduled, so the middle end is skipped; CodegenPasses selects the passes of the back end.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Codegen.h"

#include "Targets/Cpu/Architecture.h"
#include "Targets/Cpu/CodegenPasses.h"
#include "Targets/Cpu/Listing.h"
#include "Targets/FatalErrors.h"
#include "Targets/LlvmTranslation.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>
#include <utility>
#include <vector>

namespace quern {
namespace {

/// Prepares functions for instruction selection. A function whose frame exceeds a page touches each of its pages, so
/// that it cannot skip the guard page of a small stack.
void prepare(llvm::Module &module, const Target &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("probe-stack", "inline-asm");
    architectureOf(target).prepare(function, target);
  }
}

} // namespace

CpuCodegen::CpuCodegen() : context(std::make_unique<llvm::LLVMContext>()) {}
CpuCodegen::~CpuCodegen() = default;

Result<llvm::TargetMachine *> CpuCodegen::machineFor(const Target &target) {
  static std::once_flag once[2];
  const Architecture &architecture = architectureOf(target);
  std::call_once(once[static_cast<size_t>(archOf(target.isa))], architecture.initializeLlvm);
  std::unique_ptr<llvm::TargetMachine> &machine = machines[target.isa];
  if (machine)
    return machine.get();
  llvm::Triple triple(architecture.triple);
  QUERN_ASSIGN_OR_RETURN(const llvm::Target *found, llvmTargetOf(triple));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only with the `contract` relaxation
  const auto [cpu, features] = architecture.llvmCpuOf(target);
  machine.reset(found->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                           llvm::CodeGenOptLevel::Less, /*JIT=*/true));
  if (!machine)
    return internalError("codegen: LLVM cannot create a target machine for ", cpu, " ", features);
  return machine.get();
}

Result<void> checkSelfContained(llvm::StringRef object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!parsed)
    return internalError("codegen: the object cannot be parsed: ", llvm::toString(parsed.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*parsed)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) {
      llvm::consumeError(flags.takeError());
      return internalError("codegen: the object has a malformed symbol");
    }
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
      continue;
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    std::string text = name ? name->str() : llvm::toString(name.takeError());
    return internalError("codegen: the kernel refers to '", text, "'; a kernel must be self-contained");
  }
  return {};
}

Result<bool> CpuCodegen::generate(std::unique_ptr<llvm::Module> &module, llvm::function_ref<bool()> work) {
  bool isDone = false;
  Result<void> returned = returnFatalErrors([&] { isDone = work(); });
  if (returned)
    return isDone;
  abandon(module);
  abandon(context);
  for (auto &passes : objectPasses)
    abandon(passes.second);
  objectPasses.clear();
  for (auto &machine : machines)
    abandon(machine.second);
  machines.clear();
  context = std::make_unique<llvm::LLVMContext>();
  return Error{returned.error().status, concat("codegen: ", returned.error().message)};
}

void CpuCodegen::emitObject(llvm::Module &module, llvm::TargetMachine &machine, const Target &target,
                            llvm::SmallVectorImpl<char> &bytes) {
  std::unique_ptr<ObjectPasses> &passes = objectPasses[target.isa];
  if (!passes)
    passes = std::make_unique<ObjectPasses>(machine, architectureOf(target));
  passes->run(module, bytes);
}

Result<std::string> CpuCodegen::run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) {
  QUERN_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, machineFor(target));
  KeptComplaints complaints(*context);
  const Architecture &architecture = architectureOf(target);
  Result<std::unique_ptr<llvm::Module>> translated = translateToLlvm(
      module, *context, *machine, verifyIr, [&](llvm::Module &llvmModule) { prepare(llvmModule, target); });
  if (!translated)
    return translated.takeError();
  if (form == CodeForm::LlvmIr)
    return textOf(**translated);
  llvm::SmallVector<char, 0> bytes;
  auto kind = form == CodeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  QUERN_ASSIGN_OR_RETURN(
      bool isEmitted, generate(*translated, [&] {
        if (kind == llvm::CodeGenFileType::ObjectFile && !verifyIr && ObjectPasses::serve(**translated))
          emitObject(**translated, *machine, target, bytes);
        return !bytes.empty() || generateCode(*machine, architecture, **translated, bytes, kind, verifyIr);
      }));
  if (!isEmitted)
    return internalError("codegen: LLVM cannot emit this kind of file");
  if (!complaints.first().empty()) {
    objectPasses.erase(target.isa); // their state is unknown
    return internalError("codegen: ", complaints.first());
  }
  std::string result(bytes.begin(), bytes.end());
  if (form == CodeForm::Binary)
    QUERN_RETURN_IF_ERROR(checkSelfContained(result));
  return result;
}

Result<CodeListing> CpuCodegen::list(mlir::ModuleOp module, const Target &target) {
  const Architecture &architecture = architectureOf(target);
  if (!architecture.processorsOf)
    return CodeListing();
  QUERN_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, machineFor(target));
  KeptComplaints complaints(*context);
  QUERN_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> translated,
                         translateToLlvm(module, *context, *machine, /*verifyIr=*/false,
                                         [&](llvm::Module &llvmModule) { prepare(llvmModule, target); }));
  NotedCode noted;
  QUERN_ASSIGN_OR_RETURN(bool isListed,
                         generate(translated, [&] { return listCode(*machine, architecture, *translated, noted); }));
  if (!isListed)
    return CodeListing();
  if (!complaints.first().empty())
    return internalError("codegen: ", complaints.first());
  estimateLoops(*machine, noted, architecture.processorsOf(target));
  return std::move(noted.listing);
}

} // namespace quern
