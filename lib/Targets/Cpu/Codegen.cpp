//===- Codegen.cpp - LLVM dialect to assembly and objects -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels arrive scheduled, so the middle end is skipped; CodegenPasses has what remains of the back end.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Codegen.h"

#include "Targets/Cpu/CodegenPasses.h"
#include "Targets/Cpu/Listing.h"
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

constexpr const char *tripleText = "x86_64-unknown-linux-gnu";

/// A CPU name and features that stand for the level alone. The x86-64-vN names tune for no model in particular.
std::pair<const char *, const char *> cpuAndFeatures(CpuIsa isa) {
  switch (isa) {
  case CpuIsa::Sse42:
    return {"x86-64-v2", ""};
  case CpuIsa::Avx2:
    return {"x86-64-v3", ""};
  case CpuIsa::Avx512:
    return {"x86-64-v4", ""};
  case CpuIsa::Avx512Vnni:
    return {"x86-64-v4", "+avx512vnni"};
  case CpuIsa::Avx512Bf16:
    return {"x86-64-v4", "+avx512vnni,+avx512bf16"};
  case CpuIsa::Avx512Fp16:
    return {"x86-64-v4", "+avx512vnni,+avx512bf16,+avx512fp16"};
  case CpuIsa::Avx512Amx:
    return {"x86-64-v4", "+avx512vnni,+avx512bf16,+avx512fp16,+amx-tile,+amx-int8,+amx-bf16"};
  }
  return {"x86-64-v2", ""};
}

/// Processors of a level of which LLVM has a model.
std::vector<const char *> processorsOf(CpuIsa isa) {
  switch (isa) {
  case CpuIsa::Sse42:
    return {"haswell", "znver2"};
  case CpuIsa::Avx2:
    return {"haswell", "alderlake", "znver2", "znver4"};
  case CpuIsa::Avx512:
    return {"skylake-avx512", "icelake-server", "sapphirerapids", "znver4"};
  case CpuIsa::Avx512Vnni:
    return {"icelake-server", "sapphirerapids", "znver4"};
  case CpuIsa::Avx512Bf16:
    return {"sapphirerapids", "znver4"};
  case CpuIsa::Avx512Fp16:
  case CpuIsa::Avx512Amx:
    return {"sapphirerapids"};
  }
  return {};
}

/// Makes vectors of float constants values of the entry block. Selection works on one block at a time and takes a
/// constant vector apart into its elements in each of them, over and over (to negate it, to look for unused
/// elements): a fifth of its time. They are loaded there either way, and the register allocator loads them again
/// where registers are short.
void hoistFloatVectors(llvm::Function &function) {
  llvm::DenseMap<llvm::Constant *, llvm::Value *> hoisted;
  llvm::IRBuilder<> entry(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  for (llvm::BasicBlock &block : llvm::drop_begin(function))
    for (llvm::Instruction &instruction : block)
      for (llvm::Use &use : instruction.operands()) {
        auto *constant = llvm::dyn_cast<llvm::ConstantDataVector>(use.get());
        if (!constant || !constant->getElementType()->isFloatingPointTy())
          continue;
        llvm::Value *&value = hoisted[constant];
        if (!value)
          value = entry.CreateFreeze(constant);
        use.set(value);
      }
}

/// Makes the larger (or smaller) of two vectors, a comparison with a choice, the one instruction that it is. Selection
/// finds that too, after it has looked for unused elements of both.
void useMaxInstructions(llvm::Function &function) {
  using namespace llvm;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *choice = dyn_cast<SelectInst>(&instruction);
    auto *type = choice ? dyn_cast<FixedVectorType>(choice->getType()) : nullptr;
    auto *compare = type ? dyn_cast<FCmpInst>(choice->getCondition()) : nullptr;
    if (!compare || !type->getElementType()->isFloatTy() || type->getNumElements() != 16 || !compare->hasOneUse() ||
        compare->getOperand(0) != choice->getTrueValue() || compare->getOperand(1) != choice->getFalseValue())
      continue;
    bool larger = compare->getPredicate() == CmpInst::FCMP_OGT;
    if (!larger && compare->getPredicate() != CmpInst::FCMP_OLT)
      continue;
    constexpr int currentRounding = 4;
    IRBuilder<> builder(choice);
    Value *result =
        builder.CreateIntrinsic(larger ? Intrinsic::x86_avx512_max_ps_512 : Intrinsic::x86_avx512_min_ps_512, {},
                                {choice->getTrueValue(), choice->getFalseValue(), builder.getInt32(currentRounding)});
    choice->replaceAllUsesWith(result);
    choice->eraseFromParent();
    compare->eraseFromParent();
  }
}

/// What selection does better when it finds it done.
void prepare(llvm::Module &module, CpuIsa isa) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (isa >= CpuIsa::Avx512) { // the generic tuning prefers 256 bits
      function.addFnAttr("prefer-vector-width", "512");
      useMaxInstructions(function);
      hoistFloatVectors(function);
    }
  }
}

} // namespace

CpuCodegen::CpuCodegen() : context(std::make_unique<llvm::LLVMContext>()) {}
CpuCodegen::~CpuCodegen() = default;

Result<llvm::TargetMachine *> CpuCodegen::machineFor(CpuIsa isa) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::unique_ptr<llvm::TargetMachine> &machine = machines[isa];
  if (machine)
    return machine.get();
  llvm::Triple triple(tripleText);
  Result<const llvm::Target *> target = llvmTargetOf(triple);
  if (!target)
    return target.takeError();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only what carries the `contract` licence
  auto [cpu, features] = cpuAndFeatures(isa);
  machine.reset((*target)->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_,
                                               llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less, /*JIT=*/true));
  if (!machine)
    return internalError("codegen: LLVM cannot make a target machine for ", cpu, " ", features);
  return machine.get();
}

Result<void> checkSelfContained(llvm::StringRef object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!parsed)
    return internalError("codegen: the object does not parse: ", llvm::toString(parsed.takeError()));
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
    return internalError("codegen: the kernel calls '", text,
                         "', but a kernel may not refer to anything outside itself");
  }
  return {};
}

Result<std::string> CpuCodegen::run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) {
  Result<llvm::TargetMachine *> machine = machineFor(target.isa);
  if (!machine)
    return machine.takeError();
  KeptComplaints complaints(*context);
  Result<std::unique_ptr<llvm::Module>> translated =
      translateToLlvm(module, *context, **machine, verifyIr, [&](llvm::Module &made) { prepare(made, target.isa); });
  if (!translated)
    return translated.takeError();
  if (form == CodeForm::LlvmIr)
    return textOf(**translated);
  llvm::SmallVector<char, 0> bytes;
  auto kind = form == CodeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (!generateCode(**machine, **translated, bytes, kind, verifyIr))
    return internalError("codegen: LLVM cannot emit this kind of file");
  if (!complaints.first().empty())
    return internalError("codegen: ", complaints.first());
  std::string result(bytes.begin(), bytes.end());
  if (form == CodeForm::Binary)
    if (Result<void> contained = checkSelfContained(result); !contained)
      return contained.takeError();
  return result;
}

Result<CodeListing> CpuCodegen::list(mlir::ModuleOp module, const Target &target) {
  Result<llvm::TargetMachine *> machine = machineFor(target.isa);
  if (!machine)
    return machine.takeError();
  KeptComplaints complaints(*context);
  Result<std::unique_ptr<llvm::Module>> translated = translateToLlvm(
      module, *context, **machine, /*verifyIr=*/false, [&](llvm::Module &made) { prepare(made, target.isa); });
  if (!translated)
    return translated.takeError();
  NotedCode noted;
  if (!listCode(**machine, **translated, noted))
    return CodeListing();
  if (!complaints.first().empty())
    return internalError("codegen: ", complaints.first());
  estimateLoops(**machine, noted, processorsOf(target.isa));
  return std::move(noted.listing);
}

} // namespace quern
