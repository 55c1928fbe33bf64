//===- FoldConstants.cpp - Folding of constants and branches --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One walk in the order of the blocks, in which values come before their uses. LLVM's own passes do far more, at ten
// times the cost. Only zero vectors are folded: if the mask of a short vector is constant, LLVM stores disabled lanes.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/FoldConstants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

bool isZero(const Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  return constant && constant->isNullValue();
}

/// Returns the value of an instruction if constants determine it; otherwise null.
Value *valueOf(Instruction &instruction, const DataLayout &layout) {
  if (isa<PHINode>(instruction) || instruction.isTerminator())
    return nullptr;
  if (auto *select = dyn_cast<SelectInst>(&instruction); select && isZero(select->getCondition()))
    return select->getFalseValue();
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction); call && call->getIntrinsicID() == Intrinsic::masked_load)
    return isZero(call->getArgOperand(1)) ? call->getArgOperand(2) : nullptr;
  auto isConstant = [](const Use &operand) { return isa<Constant>(operand); };
  Constant *value =
      all_of(instruction.operands(), isConstant) ? ConstantFoldInstruction(&instruction, layout) : nullptr;
  return value && (!value->getType()->isVectorTy() || value->isNullValue()) ? value : nullptr;
}

void foldIn(Function &function) {
  bool isFolded = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (Value *value = valueOf(instruction, function.getDataLayout())) {
      instruction.replaceAllUsesWith(value);
      instruction.eraseFromParent();
      isFolded = true;
    }
  if (!isFolded)
    return;
  bool hasFoldedTerminator = false;
  for (BasicBlock &block : function)
    hasFoldedTerminator |= ConstantFoldTerminator(&block);
  if (hasFoldedTerminator)
    removeUnreachableBlocks(function);
}

} // namespace

void quern::foldConstants(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      foldIn(function);
}
