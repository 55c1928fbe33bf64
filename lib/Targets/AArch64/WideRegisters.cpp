//===- WideRegisters.cpp - Keeping sums out of the low registers ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/WideRegisters.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/PassRegistry.h"

using namespace llvm;

namespace {

class WideRegisters : public MachineFunctionPass {
public:
  static char ID;
  WideRegisters() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Wide registers"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    MachineRegisterInfo &registers = function.getRegInfo();
    MapVector<const TargetRegisterClass *, SmallVector<Register>> values; // by register class
    for (unsigned i = 0; i < registers.getNumVirtRegs(); ++i)
      if (const Register value = Register::index2VirtReg(i); !registers.reg_nodbg_empty(value))
        values[registers.getRegClass(value)].push_back(value);
    for (const auto &[wide, members] : values) {
      const BitVector narrow = narrowIn(*wide, values);
      if (narrow.none())
        continue;
      const SmallVector<MCPhysReg, 32> others = othersIn(*wide, narrow, function);
      size_t next = 0;               // wraps around, because loops run one after another
      for (Register value : members) // loop-carried values have several definitions
        if (!others.empty() && !registers.hasOneDef(value))
          registers.setSimpleHint(value, others[next++ % others.size()]);
    }
    return false;
  }

private:
  /// Returns the registers of `wide` to which other values of the function are limited.
  template <typename Values> static BitVector narrowIn(const TargetRegisterClass &wide, const Values &values) {
    BitVector narrow;
    for (const auto &[few, members] : values)
      if (few != &wide && wide.hasSubClass(few) && 2 * few->getNumRegs() <= wide.getNumRegs())
        for (MCPhysReg one : few->getRegisters()) {
          narrow.resize(std::max<unsigned>(narrow.size(), one + 1U));
          narrow.set(one);
        }
    return narrow;
  }

  /// Returns the allocatable registers of `wide` that are not in `narrow`, except callee-saved ones.
  static SmallVector<MCPhysReg, 32> othersIn(const TargetRegisterClass &wide, const BitVector &narrow,
                                             const MachineFunction &function) {
    const TargetRegisterInfo &info = *function.getSubtarget().getRegisterInfo();
    const BitVector allocatable = info.getAllocatableSet(function, &wide);
    auto isSaved = [&](MCPhysReg one) {
      for (const MCPhysReg *saved = info.getCalleeSavedRegs(&function); *saved; ++saved)
        if (info.regsOverlap(one, *saved))
          return true;
      return false;
    };
    SmallVector<MCPhysReg, 32> others;
    for (MCPhysReg one : reverse(wide.getRegisters()))
      if (allocatable.test(one) && !(one < narrow.size() && narrow.test(one)) && !isSaved(one))
        others.push_back(one);
    return others;
  }
};

char WideRegisters::ID = 0;

} // namespace

void quern::registerWideRegisters() {
  static const RegisterPass<WideRegisters> registered(wideRegistersName.data(), "Wide registers");
}
