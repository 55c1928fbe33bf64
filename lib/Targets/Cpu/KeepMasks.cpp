//===- KeepMasks.cpp - Masked accesses that stay masked -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM 22 folds a masked load into an AVX-512 instruction that has the same mask (X86InstrInfo::foldMemoryOperandImpl,
// called by the peephole optimizer and by the register allocator). Three things go wrong then:
//   - the two-address pass unfolds the load as an unmasked one if the instruction's other source is used again;
//   - an instruction that moves elements between lanes reads lanes that the load had replaced by zeros;
//   - some instructions access all of their memory operand, whatever their mask.
// So masked loads must not be folded at all. LLVM never folds, duplicates or rematerializes a volatile load.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/KeepMasks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace quern {
namespace {

/// Identifies the memory operand of a masked access. It is a target flag, because LLVM copies it along with the
/// operand; the supported targets do not use it otherwise.
constexpr auto maskedFlag = MachineMemOperand::MOTargetFlag4;

class MarkMasks : public MachineFunctionPass {
public:
  static char ID;
  explicit MarkMasks(IsMasked isMasked) : MachineFunctionPass(ID), isMasked(isMasked) {}

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (isAtRisk(instruction))
          mark(function, instruction);
    return false;
  }

private:
  /// Returns true for a masked access to memory that may not exist. A kernel's constants always exist, and LLVM may
  /// hoist their loads. An operand of known size is an unmasked load that selection folded into a masked instruction:
  /// all of its memory exists, and LLVM may unfold it again. Masked loads and stores have no size.
  bool isAtRisk(const MachineInstr &instruction) const {
    auto isOfUnknownSize = [](const MachineMemOperand *operand) { return !operand->getSize().isPrecise(); };
    return any_of(instruction.memoperands(), isOfUnknownSize) && !instruction.isDereferenceableInvariantLoad() &&
           isMasked(instruction);
  }

  static void mark(MachineFunction &function, MachineInstr &instruction) {
    const SmallVector<MachineMemOperand *, 2> marked =
        map_to_vector<2>(instruction.memoperands(), [&](const MachineMemOperand *operand) {
          return function.getMachineMemOperand(operand,
                                               operand->getFlags() | MachineMemOperand::MOVolatile | maskedFlag);
        });
    instruction.setMemRefs(function, marked);
  }

  IsMasked isMasked;
};
char MarkMasks::ID = 0;

class CheckMasks : public MachineFunctionPass {
public:
  static char ID;
  explicit CheckMasks(IsMasked isMasked) : MachineFunctionPass(ID), isMasked(isMasked) {}

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    auto isMarked = [](const MachineMemOperand *operand) { return (operand->getFlags() & maskedFlag) != 0; };
    for (const MachineBasicBlock &block : function)
      for (const MachineInstr &instruction : block)
        if (any_of(instruction.memoperands(), isMarked) && !isMasked(instruction)) {
          function.getFunction().getContext().emitError("a masked access of " + function.getName() +
                                                        " has lost its mask");
          return false;
        }
    return false;
  }

private:
  IsMasked isMasked;
};
char CheckMasks::ID = 0;

} // namespace

Pass *createMarkMasksPass(IsMasked isMasked) { return new MarkMasks(isMasked); }
Pass *createCheckMasksPass(IsMasked isMasked) { return new CheckMasks(isMasked); }

} // namespace quern
