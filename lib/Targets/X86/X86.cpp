//===- X86.cpp - The x86 architecture -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/X86/X86.h"

#include "llvm-c/Target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace quern {
namespace {

VectorRegisters registersOf(const Target &target) {
  if (target.has(CpuIsa::Avx512))
    return {64, 32, 8}; // byte masks by AVX-512 BW
  if (target.has(CpuIsa::Avx2))
    return {32, 16, 32}; // vmaskmovps and vmaskmovpd
  return {16, 16, 0};
}

void refine(ContractionStrategy &strategy, const Target &target) {
  strategy.hasQuadDots = target.has(CpuIsa::Avx512Vnni);
  strategy.hasMatrices = target.has(CpuIsa::Avx512Amx);
  if (target.hasPairDots()) // these cores prefetch across pages; prefetch instructions would take 2 to 15 % of the time
    strategy.l2PrefetchBytes = strategy.memoryPrefetchBytes = 0;
}

/// The x86-64-vN names are not tuned for a specific model.
LlvmCpu llvmCpuOf(const Target &target) {
  switch (target.isa) {
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
  default: // another architecture
    break;
  }
  return {"x86-64-v2", ""};
}

/// Moves vectors of float constants to the entry block. Selection works on one block at a time and repeatedly splits a
/// constant vector into its elements in each of them (to negate it, to find unused elements): a fifth of its time.
/// Constants are loaded at the entry either way, and the register allocator reloads them if registers are short.
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

/// Replaces a comparison and select that compute the maximum (or minimum) of two vectors of 16 f32 by one instruction.
/// Selection would find it as well, but only after searching both for unused elements.
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

void prepare(llvm::Function &function, const Target &target) {
  if (!target.has(CpuIsa::Avx512))
    return;
  function.addFnAttr("prefer-vector-width", "512"); // the generic tuning prefers 256 bits
  useMaxInstructions(function);
  hoistFloatVectors(function);
}

/// AVX-512 has masks in separate registers ("VK16WM": a mask of 16 lanes that determines the written ones), AVX2 in
/// vectors.
bool isMasked(const llvm::MachineInstr &instruction) {
  const llvm::TargetSubtargetInfo &subtarget = instruction.getMF()->getSubtarget();
  const llvm::StringRef name = subtarget.getInstrInfo()->getName(instruction.getOpcode());
  const llvm::TargetRegisterInfo &registers = *subtarget.getRegisterInfo();
  auto isMask = [&](const llvm::MCOperandInfo &operand) {
    return operand.RegClass >= 0 && operand.OperandType == llvm::MCOI::OPERAND_REGISTER &&
           llvm::StringRef(registers.getRegClassName(registers.getRegClass(operand.RegClass))).ends_with("WM");
  };
  return llvm::any_of(instruction.getDesc().operands(), isMask) || name.contains("MASKMOV") || name.contains("GATHER");
}

void initializeLlvm() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

/// Selection may copy the flags, for which there is no instruction.
constexpr llvm::StringLiteral virtualPasses[] = {"x86-flags-copy-lowering"};
constexpr llvm::StringLiteral physicalPasses[] = {"x86-expand-pseudo"};

std::vector<const char *> processorsOf(const Target &target) {
  switch (target.isa) {
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
  default:
    return {"sapphirerapids"};
  }
}

} // namespace

const Architecture &x86Architecture() {
  static constexpr Architecture architecture{.triple = "x86_64-unknown-linux-gnu",
                                             .assemblyComment = "# ",
                                             .registersOf = registersOf,
                                             .refine = refine,
                                             .storeFence = "llvm.x86.sse.sfence",
                                             .initializeLlvm = initializeLlvm,
                                             .llvmCpuOf = llvmCpuOf,
                                             .prepare = prepare,
                                             .isMasked = isMasked,
                                             .processorsOf = processorsOf,
                                             .virtualPasses = virtualPasses,
                                             .allocationPasses = {},
                                             .physicalPasses = physicalPasses,
                                             .placedPasses = {}};
  return architecture;
}

} // namespace quern
