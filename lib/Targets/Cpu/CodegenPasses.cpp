//===- CodegenPasses.cpp - The back end's passes for kernels --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Omitted are schedulers (kernels arrive scheduled), late cleanups that change nothing here, unwinding information,
// debug information unless a module has it, tile registers, the x87 stack, speculation hardening and thunks. The
// default code generation is the fallback for modules that need more (atomics).
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/CodegenPasses.h"

#include "Targets/Cpu/FoldConstants.h"
#include "Targets/Cpu/KeepMasks.h"
#include "Targets/Cpu/Listing.h"
#include "Targets/Cpu/PlaceConstants.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetLoweringObjectFile.h"
#include "llvm/Transforms/Scalar.h"

using namespace llvm;

namespace quern {
namespace {

/// Calls a protected step of a pass configuration through a pointer to member. The configuration of a target is a class
/// that LLVM does not export, so it cannot be derived from.
struct PreEmitPasses : TargetPassConfig {
  static void addTo(TargetPassConfig &config) { (config.*(&PreEmitPasses::addPreEmitPass))(); }
};

/// Splits a block before each stage of a network of shuffles. Selection works on one block at a time, and follows every
/// operand of every shuffle through the shuffles below it to find unused elements. That is half of its time for a
/// transposed tile, which uses every element. Values that cross the border are in registers anyway; the blocks run one
/// after another without a branch.
class SplitShuffleStages : public FunctionPass {
public:
  static char ID;
  SplitShuffleStages() : FunctionPass(ID) {}

  bool runOnFunction(Function &function) override {
    bool changed = false;
    for (BasicBlock *block = &function.front(); block; block = block->getNextNode()) {
      Instruction *border = firstOfNextStage(*block);
      if (!border)
        continue;
      border = sinkScalars(*border);
      changed = true;
      if (crossesInRegisters(*border))
        block->splitBasicBlock(border);
    }
    return changed;
  }

private:
  /// Returns true for vectors of at least 128 bits. For a scalable vector, the known minimum size is that of a
  /// register.
  static bool fillsRegister(const Type *vector) {
    constexpr uint64_t registerBits = 128;
    return vector->getPrimitiveSizeInBits().getKnownMinValue() >= registerBits;
  }

  /// Returns true for a shuffle of two vectors of its result type.
  static bool mixes(const Instruction &instruction) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
    return shuffle && shuffle->getType() == shuffle->getOperand(0)->getType() &&
           !isa<UndefValue>(shuffle->getOperand(1)) && fillsRegister(shuffle->getType());
  }

  /// Returns the first shuffle with an operand that is a shuffle of the same block; null if there is none.
  static Instruction *firstOfNextStage(BasicBlock &block) {
    for (Instruction &instruction : block) {
      if (!mixes(instruction))
        continue;
      auto isShuffledHere = [&](Value *operand) {
        auto *shuffle = dyn_cast<ShuffleVectorInst>(operand);
        return shuffle && shuffle->getParent() == &block;
      };
      if (any_of(instruction.operands(), isShuffledHere))
        return &instruction;
    }
    return nullptr;
  }

  static bool isUsedAfter(const Instruction &value, const Instruction &border) {
    return any_of(value.users(), [&](const User *user) {
      auto *instruction = cast<Instruction>(user);
      return instruction->getParent() == border.getParent() && !instruction->comesBefore(&border);
    });
  }

  /// Moves addresses and conditions whose uses all follow the border to the border, and returns the first of them: the
  /// new border.
  static Instruction *sinkScalars(Instruction &border) {
    Instruction *at = &border;
    for (Instruction &before :
         make_early_inc_range(reverse(make_range(border.getParent()->begin(), border.getIterator())))) {
      auto isAfter = [&](const User *user) {
        auto *instruction = cast<Instruction>(user);
        return !isa<PHINode>(instruction) && instruction->getParent() == border.getParent() &&
               !instruction->comesBefore(at);
      };
      if (before.getType()->isVectorTy() || before.mayReadOrWriteMemory() || isa<PHINode>(before) ||
          before.use_empty() || !all_of(before.users(), isAfter))
        continue;
      before.moveBefore(at->getIterator());
      at = &before;
    }
    return at;
  }

  /// Returns true if the values that are used after the border fit registers unchanged: pointers, i64, f32 and vectors
  /// of at least 128 bits, but not masks.
  static bool crossesInRegisters(Instruction &border) {
    for (Instruction &before : make_range(border.getParent()->begin(), border.getIterator())) {
      Type *type = before.getType();
      bool fits = type->isVectorTy() ? fillsRegister(type) && !type->getScalarType()->isIntegerTy(1)
                                     : type->isPointerTy() || type->isIntegerTy(64) || type->isFloatTy();
      if (!fits && isUsedAfter(before, border))
        return false;
    }
    return true;
  }
};
char SplitShuffleStages::ID = 0;

/// Passes from selected to final instructions, by their names in LLVM's registry, which includes those of the target.
/// First those for virtual registers with a single definition, then those that allocate registers.
constexpr StringLiteral virtualPasses[] = {"dead-mi-elimination", "early-machinelicm", "machine-cse", "peephole-opt",
                                           "dead-mi-elimination"};
constexpr StringLiteral coalescingPasses[] = {
    "processimpdefs",       "unreachable-mbb-elimination", "livevars",
    "phi-node-elimination", "twoaddressinstruction",       "register-coalescer"};
constexpr StringLiteral registerPasses[] = {"greedy", "virtregrewriter", "machinelicm", "prologepilog",
                                            "postrapseudos"}; // expands pseudo instructions
constexpr StringLiteral lastPasses[] = {"block-placement"};

/// Adds the passes from selected to final instructions. Returns false, with nothing added, if this LLVM lacks a pass.
/// `hasVariables`: debug information has the locations of variables, which are tracked from block to block.
bool addMachinePasses(TargetPassConfig &config, const Architecture &architecture, legacy::PassManager &manager,
                      bool hasVariables) {
  SmallVector<Pass *> passes;
  auto append = [&](ArrayRef<StringLiteral> names) {
    for (StringRef name : names) {
      const PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(name);
      if (!info || !info->getNormalCtor())
        return false;
      passes.push_back(info->createPass());
    }
    return true;
  };
  passes.push_back(createMarkMasksPass(architecture.isMasked));
  bool isComplete = append(virtualPasses) && append(architecture.virtualPasses);
  passes.push_back(createPlaceConstantsPass());
  isComplete = isComplete && append(coalescingPasses) && append(architecture.allocationPasses) &&
               append(registerPasses) && append(architecture.physicalPasses) && append(lastPasses) &&
               append(architecture.placedPasses);
  passes.push_back(createCheckMasksPass(architecture.isMasked));
  if (!isComplete) {
    for (Pass *pass : passes)
      delete pass;
    return false;
  }
  for (Pass *pass : passes)
    manager.add(pass);
  // For x86: domains of vector instructions, false dependencies, upper halves of registers and short encodings.
  PreEmitPasses::addTo(config);
  if (hasVariables)
    manager.add(Pass::createPass(&LiveDebugValuesID));
  return true;
}

using AddPrinter = function_ref<bool(CodeGenTargetMachineImpl &, MCContext &)>;

/// Adds the passes from LLVM IR to the output file. Returns false if the back end lacks one of them.
bool addPasses(TargetMachine &machine, const Architecture &architecture, legacy::PassManager &passes, bool verifyIr,
               bool hasVariables, AddPrinter addPrinter) {
  auto &target = static_cast<CodeGenTargetMachineImpl &>(machine);
  TargetPassConfig *config = target.createPassConfig(passes);
  config->setDisableVerify(!verifyIr);
  auto *info = new MachineModuleInfoWrapperPass(&target);
  passes.add(config); // takes ownership, as of every pass
  passes.add(info);
  MCContext &context = info->getMMI().getContext();
  const_cast<TargetLoweringObjectFile &>(*machine.getObjFileLowering()).Initialize(context, machine);
  passes.add(createTargetTransformInfoWrapperPass(machine.getTargetIRAnalysis()));
  passes.add(createExpandReductionsPass());
  passes.add(createScalarizeMaskedMemIntrinLegacyPass());
  config->addCodeGenPrepare();
  passes.add(new SplitShuffleStages);
  if (config->addInstSelector())
    return false;
  passes.add(Pass::createPass(&FinalizeISelID)); // expands pseudo instructions of selection
  if (!addMachinePasses(*config, architecture, passes, hasVariables))
    return false;
  config->setInitialized();
  return addPrinter(target, context);
}

bool hasVariables(const Module &module) {
  return any_of(module.debug_compile_units(),
                [](const DICompileUnit *unit) { return unit->getEmissionKind() == DICompileUnit::FullDebug; });
}

bool usesAtomics(const Module &module) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (instruction.isAtomic())
        return true;
  return false;
}

/// Returns true if a mask decides which lanes some instruction accesses.
bool hasMaskedAccess(const Module &module) {
  for (const Function &function : module)
    switch (function.getIntrinsicID()) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_store:
    case Intrinsic::masked_gather:
    case Intrinsic::masked_scatter:
    case Intrinsic::masked_expandload:
    case Intrinsic::masked_compressstore:
      return true;
    default:
      break;
    }
  return false;
}

} // namespace

struct ObjectPasses::Passes {
  SmallVector<char, 0> bytes;
  raw_svector_ostream os{bytes};
  legacy::PassManager manager;
  bool isComplete = false;
};

ObjectPasses::ObjectPasses(TargetMachine &machine, const Architecture &architecture)
    : passes(std::make_unique<Passes>()) {
  const auto addPrinter = [&](CodeGenTargetMachineImpl &target, MCContext &context) {
    return !target.addAsmPrinter(passes->manager, passes->os, nullptr, CodeGenFileType::ObjectFile, context);
  };
  passes->isComplete =
      addPasses(machine, architecture, passes->manager, /*verifyIr=*/false, /*hasVariables=*/false, addPrinter);
  // Machine functions are found by the address of their function, which a function of the next module may reuse.
  passes->manager.add(createFreeMachineFunctionPass());
}

ObjectPasses::~ObjectPasses() = default;

bool ObjectPasses::serve(const Module &module) { return !hasVariables(module) && !usesAtomics(module); }

void ObjectPasses::run(Module &module, SmallVectorImpl<char> &bytes) {
  if (!passes->isComplete)
    return;
  foldConstants(module);
  passes->manager.run(module);
  bytes.append(passes->bytes.begin(), passes->bytes.end());
  passes->bytes.clear();
}

bool generateCode(TargetMachine &machine, const Architecture &architecture, Module &module,
                  SmallVectorImpl<char> &bytes, CodeGenFileType kind, bool verifyIr) {
  foldConstants(module);
  if (!usesAtomics(module)) {
    raw_svector_ostream os(bytes);
    legacy::PassManager passes;
    const auto addPrinter = [&](CodeGenTargetMachineImpl &target, MCContext &context) {
      return !target.addAsmPrinter(passes, os, nullptr, kind, context);
    };
    if (addPasses(machine, architecture, passes, verifyIr, hasVariables(module), addPrinter)) {
      passes.run(module);
      return true;
    }
    bytes.clear();
  }
  if (hasMaskedAccess(module)) { // MarkMasks is not among LLVM's own passes
    module.getContext().emitError("masked accesses are not implemented in a kernel with atomics");
    return true;
  }
  raw_svector_ostream os(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, kind, !verifyIr))
    return false;
  passes.run(module);
  return true;
}

bool listCode(TargetMachine &machine, const Architecture &architecture, Module &module, NotedCode &noted) {
  foldConstants(module);
  if (usesAtomics(module))
    return false;
  legacy::PassManager passes;
  const auto addPrinter = [&](CodeGenTargetMachineImpl &target, MCContext &context) {
    AsmPrinter *printer = target.getTarget().createAsmPrinter(target, createNotingStreamer(target, context, noted));
    if (printer)
      passes.add(printer);
    return printer != nullptr;
  };
  if (!addPasses(machine, architecture, passes, /*verifyIr=*/false, /*hasVariables=*/false, addPrinter))
    return false;
  passes.run(module);
  return true;
}

} // namespace quern
