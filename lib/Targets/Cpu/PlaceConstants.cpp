//===- PlaceConstants.cpp - Constants near the loops that use them --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selection and hoisting leave constants at the entry. A kernel that sums products and then applies functions would
// keep the coefficients of the functions in registers while it sums. Register allocation rates a loop within two others
// as hotter than one within a single loop, and would then spill sums instead of reloading constants.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/PlaceConstants.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using namespace llvm;

namespace {

class PlaceConstants : public MachineFunctionPass {
public:
  static char ID;
  PlaceConstants() : MachineFunctionPass(ID) {}

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesCFG();
    usage.addRequired<MachineLoopInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    loops = &getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    registers = &function.getRegInfo();
    SmallVector<MachineInstr *, 32> constants;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (isVectorOfConstants(instruction))
          constants.push_back(&instruction);
    count = constants.size();
    bool changed = false;
    for (MachineInstr *constant : constants)
      changed |= place(*constant);
    return changed;
  }

private:
  using Uses = SmallVector<MachineOperand *, 8>;

  bool isVectorOfConstants(const MachineInstr &instruction) const;
  bool isVector(Register value) const;
  bool isCrowded(const MachineLoop &loop, Register constant) const;
  MachineBasicBlock *placeFor(MachineBasicBlock &use, MachineInstr &constant, ArrayRef<MachineBasicBlock *> all) const;
  bool place(MachineInstr &constant);

  MachineLoopInfo *loops = nullptr;
  MachineRegisterInfo *registers = nullptr;
  size_t count = 0; ///< constants in the function
};
char PlaceConstants::ID = 0;

bool PlaceConstants::isVector(Register value) const {
  constexpr unsigned vectorBits = 128;
  const TargetRegisterClass *kind = registers->getRegClass(value);
  return registers->getTargetRegisterInfo()->getRegSizeInBits(*kind) >= vectorBits;
}

/// Returns true if the vectors that the loop carries, all constants and the vectors of a step might not fit the
/// registers.
bool PlaceConstants::isCrowded(const MachineLoop &loop, Register constant) const {
  constexpr size_t ofStep = 8;
  auto isCarried = [&](const MachineInstr &phi) { return isVector(phi.getOperand(0).getReg()); };
  return size_t(count_if(loop.getHeader()->phis(), isCarried)) + count + ofStep >
         registers->getRegClass(constant)->getNumRegs();
}

bool PlaceConstants::isVectorOfConstants(const MachineInstr &instruction) const {
  const TargetSubtargetInfo &target = instruction.getMF()->getSubtarget();
  if (instruction.getNumExplicitDefs() != 1 || !instruction.getOperand(0).isReg() ||
      !instruction.getOperand(0).getReg().isVirtual())
    return false;
  bool isAlike =
      target.getInstrInfo()->isTriviallyReMaterializable(instruction) || instruction.isDereferenceableInvariantLoad();
  auto isVirtual = [](const MachineOperand &operand) { return operand.getReg().isVirtual(); };
  Register result = instruction.getOperand(0).getReg();
  return isAlike && none_of(instruction.all_uses(), isVirtual) && registers->hasOneDef(result) && isVector(result);
}

/// Returns the block of a use, or the predecessor of the outermost loop around it in which every crowded loop has a
/// use; the constant's block if that loop has no single predecessor.
MachineBasicBlock *PlaceConstants::placeFor(MachineBasicBlock &use, MachineInstr &constant,
                                            ArrayRef<MachineBasicBlock *> all) const {
  Register result = constant.getOperand(0).getReg();
  auto allows = [&](const MachineLoop &loop) {
    return any_of(all, [&](MachineBasicBlock *block) { return loop.contains(block); }) || !isCrowded(loop, result);
  };
  MachineBasicBlock *place = &use;
  for (MachineLoop *loop = loops->getLoopFor(&use); loop && !loop->contains(constant.getParent());
       loop = loop->getParentLoop()) {
    SmallVector<MachineLoop *, 8> within{loop};
    bool allAllow = true;
    for (size_t i = 0; i < within.size() && allAllow; ++i) {
      append_range(within, within[i]->getSubLoops());
      allAllow = allows(*within[i]);
    }
    if (!allAllow)
      break;
    place = loop->getLoopPredecessor();
    if (!place)
      return constant.getParent();
  }
  return place;
}

bool PlaceConstants::place(MachineInstr &constant) {
  Register old = constant.getOperand(0).getReg();
  auto blockOf = [](MachineOperand &use) { // a phi reads at the end of its predecessor
    MachineInstr &user = *use.getParent();
    return user.isPHI() ? user.getOperand(use.getOperandNo() + 1).getMBB() : user.getParent();
  };
  Uses uses;
  SmallVector<MachineBasicBlock *, 8> blocks;
  for (MachineOperand &use : registers->use_operands(old)) {
    uses.push_back(&use);
    blocks.push_back(blockOf(use));
  }
  MapVector<MachineBasicBlock *, Uses> places;
  for (auto [use, block] : zip_equal(uses, blocks))
    places[placeFor(*block, constant, blocks)].push_back(use);
  if (places.empty() || (places.size() == 1 && places.front().first == constant.getParent()))
    return false;
  for (auto &[block, blockUses] : places) {
    SmallPtrSet<MachineInstr *, 8> users;
    for (MachineOperand *use : blockUses)
      if (!use->getParent()->isPHI())
        users.insert(use->getParent());
    MachineBasicBlock::iterator at = block->getFirstNonPHI();
    while (at != block->getFirstTerminator() && !users.contains(&*at))
      ++at;
    MachineInstr *copy = constant.getMF()->CloneMachineInstr(&constant);
    block->insert(at, copy);
    copy->setDebugLoc(blockUses.front()->getParent()->getDebugLoc()); // the copy serves that use
    Register fresh = registers->cloneVirtualRegister(old);
    copy->getOperand(0).setReg(fresh);
    for (MachineOperand *use : blockUses)
      use->setReg(fresh);
    registers->clearKillFlags(fresh);
  }
  constant.eraseFromParent();
  return true;
}

} // namespace

Pass *quern::createPlaceConstantsPass() { return new PlaceConstants; }
