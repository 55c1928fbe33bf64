//===- Codegen.cpp - Compilation of the LLVM dialect to SPIR-V ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Devices compute scalars, one for each work-item, even if the code has vectors. Vectors are kept only for memory
// accesses; all other operations are scalarized first, which also removes vectors of lengths that SPIR-V does not have.
//
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Codegen.h"

#include "Targets/FatalErrors.h"
#include "Targets/LlvmTranslation.h"
#include "Targets/Spirv/Check.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/AsmPrinterHandler.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils.h"

#include <mutex>
#include <vector>

namespace quern {
namespace {

constexpr const char *tripleText = "spirv64v1.3-unknown-unknown";

/// LLVM 22 omits the truncation if an integer is truncated and then extended to less than its original width. Replaces
/// the two instructions by a truncation to that width and a mask, or shifts.
void joinTruncatedExtensions(llvm::Module &module) {
  using namespace llvm;
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *truncation =
          isa<ZExtInst, SExtInst>(instruction) ? dyn_cast<TruncInst>(instruction.getOperand(0)) : nullptr;
      Type *type = instruction.getType();
      unsigned bits = truncation ? truncation->getType()->getScalarSizeInBits() : 0;
      if (!truncation || bits == 1 ||
          type->getScalarSizeInBits() >= truncation->getOperand(0)->getType()->getScalarSizeInBits())
        continue;
      IRBuilder<> builder(&instruction);
      Value *whole = builder.CreateTrunc(truncation->getOperand(0), type);
      const unsigned shift = type->getScalarSizeInBits() - bits;
      Value *joined = isa<ZExtInst>(instruction)
                          ? builder.CreateAnd(
                                whole, ConstantInt::get(type, APInt::getLowBitsSet(type->getScalarSizeInBits(), bits)))
                          : builder.CreateAShr(builder.CreateShl(whole, shift), shift);
      instruction.replaceAllUsesWith(joined);
      instruction.eraseFromParent();
    }
}

/// If a loaded vector is only bitcast to another type of the same size, loads that type instead; likewise for stores.
/// For vectors of one element, which SPIR-V does not have, accesses the element.
void foldBitcastsIntoAccesses(llvm::Module &module) {
  using namespace llvm;
  auto isSingle = [](Type *type) {
    return isa<FixedVectorType>(type) && cast<FixedVectorType>(type)->getNumElements() == 1;
  };
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      IRBuilder<> builder(&instruction);
      auto *cast = dyn_cast<BitCastInst>(&instruction);
      if (auto *load = cast ? dyn_cast<LoadInst>(cast->getOperand(0)) : nullptr;
          load && load->hasOneUse() && load->getType()->isVectorTy()) {
        builder.SetInsertPoint(load);
        Type *type = cast->getType();
        Value *loaded = builder.CreateAlignedLoad(isSingle(type) ? type->getScalarType() : type,
                                                  load->getPointerOperand(), load->getAlign());
        cast->replaceAllUsesWith(
            isSingle(type) ? builder.CreateInsertElement(PoisonValue::get(type), loaded, uint64_t(0)) : loaded);
        cast->eraseFromParent();
        load->eraseFromParent();
        continue;
      }
      auto *store = dyn_cast<StoreInst>(&instruction);
      auto *stored = store ? dyn_cast<BitCastInst>(store->getValueOperand()) : nullptr;
      if (!stored)
        continue;
      Value *source = stored->getOperand(0);
      if (isSingle(source->getType()))
        source = builder.CreateExtractElement(source, uint64_t(0));
      builder.CreateAlignedStore(source, store->getPointerOperand(), store->getAlign());
      store->eraseFromParent();
      if (stored->use_empty())
        stored->eraseFromParent();
    }
}

/// Scalarizes vectors, except for loads and stores; then removes duplicate and unused operations.
void simplify(llvm::Module &module) {
  foldBitcastsIntoAccesses(module);
  llvm::legacy::PassManager passes;
  llvm::ScalarizerPassOptions options;
  options.ScalarizeVariableInsertExtract = true;
  options.ScalarizeLoadStore = false;
  passes.add(llvm::createScalarizerPass(options));
  passes.add(llvm::createEarlyCSEPass());
  passes.add(llvm::createDeadCodeEliminationPass());
  passes.run(module);
  joinTruncatedExtensions(module);
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}

/// Creates a target machine. Each module needs a new one, because a machine caches types and values of its module,
/// which become invalid with it.
Result<std::unique_ptr<llvm::TargetMachine>> makeMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
  });
  llvm::Triple triple(tripleText);
  QUERN_ASSIGN_OR_RETURN(const llvm::Target *target, llvmTargetOf(triple));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // No level above None: loop strength reduction represents a remainder by 32 as five bits, which the back end widens
  // to eight.
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "", "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::None));
  if (!machine)
    return internalError("codegen: LLVM cannot create a target machine for ", tripleText);
  return machine;
}

/// The back end keeps a table of labels by function address for the lifetime of the process and never clears it: a
/// function at the address of an earlier one would get its labels. So the addresses are not reused; the contents of the
/// functions are freed.
class FunctionAddresses {
public:
  static void keep(llvm::MachineModuleInfo &info, const llvm::Module &module) {
    static auto *kept = new std::vector<std::unique_ptr<llvm::MachineModuleInfo>>; // never destroyed
    auto &mine = kept->emplace_back(std::make_unique<llvm::MachineModuleInfo>(std::move(info)));
    for (const llvm::Function &function : module)
      if (llvm::MachineFunction *machineFunction = mine->getMachineFunction(function))
        machineFunction->~MachineFunction();
  }
};

/// Marks the lines of instructions in assembly, as other targets do (.loc); this back end does not.
class LineMarks final : public llvm::AsmPrinterHandler {
public:
  explicit LineMarks(llvm::MCStreamer &streamer) : streamer(streamer) {}
  void beginInstruction(const llvm::MachineInstr *instruction) override {
    const llvm::DebugLoc &place = instruction->getDebugLoc();
    const unsigned line = place ? place.getLine() : 0;
    if (line != last)
      streamer.emitRawText(".loc\t1 " + llvm::Twine(line) + " 1");
    last = line;
  }
  void beginFunction(const llvm::MachineFunction *) override { last = 0; }
  void endFunction(const llvm::MachineFunction *) override {}
  void endModule() override {}
  void endInstruction() override {}

private:
  llvm::MCStreamer &streamer;
  unsigned last = 0;
};

/// Adds an assembly printer with line marks. Returns false if the back end has none.
bool addMarkingPrinter(llvm::CodeGenTargetMachineImpl &target, llvm::legacy::PassManager &passes,
                       llvm::raw_pwrite_stream &os, llvm::MCContext &context) {
  auto streamer = target.createMCStreamer(os, nullptr, llvm::CodeGenFileType::AssemblyFile, context);
  if (!streamer) {
    llvm::consumeError(streamer.takeError());
    return false;
  }
  llvm::MCStreamer &marked = **streamer;
  llvm::AsmPrinter *printer = target.getTarget().createAsmPrinter(target, std::move(*streamer));
  if (!printer)
    return false;
  printer->addAsmPrinterHandler(std::make_unique<LineMarks>(marked));
  passes.add(printer);
  return true;
}

/// Adds the back end's own passes, except the one that frees functions. `hasLines`: the module has debug information.
bool addPasses(llvm::TargetMachine &machine, llvm::legacy::PassManager &passes,
               llvm::MachineModuleInfoWrapperPass &info, llvm::raw_pwrite_stream &os, llvm::CodeGenFileType kind,
               bool verifyIr, bool hasLines) {
  auto &target = static_cast<llvm::CodeGenTargetMachineImpl &>(machine);
  llvm::TargetPassConfig *config = target.createPassConfig(passes);
  config->setDisableVerify(!verifyIr);
  passes.add(config); // takes ownership, as of every pass
  passes.add(&info);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  llvm::MCContext &context = info.getMMI().getContext();
  return hasLines && kind == llvm::CodeGenFileType::AssemblyFile
             ? addMarkingPrinter(target, passes, os, context)
             : !target.addAsmPrinter(passes, os, nullptr, kind, context);
}

/// Compiles `module` to a file of `kind` and appends it to `bytes`. Returns false if the back end cannot emit this
/// kind.
bool emitLocked(llvm::TargetMachine &machine, llvm::Module &module, llvm::SmallVectorImpl<char> &bytes,
                llvm::CodeGenFileType kind, bool verifyIr) {
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
  const bool hasLines = !module.debug_compile_units().empty();
  if (!addPasses(machine, passes, *info, os, kind, verifyIr, hasLines))
    return false;
  passes.run(module);
  FunctionAddresses::keep(info->getMMI(), module);
  return true;
}

/// Emits one module at a time, because the back end's analysis of it is a static variable.
Result<bool> emit(llvm::TargetMachine &machine, llvm::Module &module, llvm::SmallVectorImpl<char> &bytes,
                  llvm::CodeGenFileType kind, bool verifyIr) {
  static std::mutex mutex;
  bool isEmitted = false;
  mutex.lock(); // not by a guard, which a failed allocation would skip
  const Result<void> returned =
      returnFatalErrors([&] { isEmitted = emitLocked(machine, module, bytes, kind, verifyIr); });
  mutex.unlock();
  if (!returned)
    return Error{returned.error().status, concat("codegen: ", returned.error().message)};
  return isEmitted;
}

} // namespace

SpirvCodegen::SpirvCodegen() : context(std::make_unique<llvm::LLVMContext>()) {}
SpirvCodegen::~SpirvCodegen() = default;

Result<std::string> SpirvCodegen::run(mlir::ModuleOp module, const Target &target, CodeForm form, bool verifyIr) {
  QUERN_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> found, makeMachine());
  KeptComplaints complaints(*context);
  QUERN_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> translated,
                         translateToLlvm(module, *context, *found, verifyIr, simplify));
  if (form == CodeForm::LlvmIr)
    return textOf(*translated);
  QUERN_RETURN_IF_ERROR(checkForSpirv(*translated, target.device));
  llvm::SmallVector<char, 0> bytes;
  auto kind = form == CodeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  Result<bool> isEmitted = emit(*found, *translated, bytes, kind, verifyIr);
  if (!isEmitted) {
    abandon(translated);
    abandon(found);
    abandon(context);
    context = std::make_unique<llvm::LLVMContext>();
    return isEmitted.takeError();
  }
  if (!*isEmitted)
    return internalError("codegen: LLVM cannot emit this kind of file");
  if (!complaints.first().empty())
    return internalError("codegen: ", complaints.first());
  return std::string(bytes.begin(), bytes.end());
}

} // namespace quern
