//===- Selection.cpp - What selection does better when it is done ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Selection.h.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/Selection.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <tuple>

using namespace llvm;

namespace {

/// A number that is neither zero nor NaN: zeros of either sign compare equal, but are ordered by the instructions.
bool isOrdered(const Value *value) {
  const auto *constant = dyn_cast<Constant>(value);
  const auto *number =
      constant ? dyn_cast_or_null<ConstantFP>(constant->getType()->isVectorTy() ? constant->getSplatValue()
                                                                                : const_cast<Constant *>(constant))
               : nullptr;
  return number && !number->isZero() && !number->isNaN();
}

/// What arithmetic makes is no signalling NaN.
bool isComputed(const Value *value) {
  const auto *instruction = dyn_cast<Instruction>(value);
  return instruction && (instruction->isBinaryOp() || isa<FPExtInst, FPTruncInst>(instruction));
}

/// The larger (smaller) of the operands of a comparison, and what NaN gives, which is the second: the constant, or NaN
/// itself where the constant is the first.
Intrinsic::ID instructionFor(const FCmpInst &compare) {
  const bool larger = compare.getPredicate() == CmpInst::FCMP_OGT;
  if (!larger && compare.getPredicate() != CmpInst::FCMP_OLT)
    return Intrinsic::not_intrinsic;
  if (isOrdered(compare.getOperand(0)))
    return larger ? Intrinsic::maximum : Intrinsic::minimum;
  if (isOrdered(compare.getOperand(1)) && isComputed(compare.getOperand(0)))
    return larger ? Intrinsic::maxnum : Intrinsic::minnum;
  return Intrinsic::not_intrinsic;
}

bool hasInstruction(const Type *type) {
  return type->getScalarType()->isFloatTy() || type->getScalarType()->isDoubleTy();
}

BasicBlock *preheaderOf(BasicBlock &loop) {
  BasicBlock *before = nullptr;
  for (BasicBlock *predecessor : predecessors(&loop)) {
    if (predecessor == &loop)
      continue;
    if (before)
      return nullptr;
    before = predecessor;
  }
  return before;
}

/// Calls f(loop, builder in front of it) for loops of one block.
template <typename F> void forEachInnermost(Function &function, F f) {
  for (BasicBlock &block : function)
    if (is_contained(successors(&block), &block))
      if (BasicBlock *before = preheaderOf(block)) {
        IRBuilder<> builder(before->getTerminator());
        f(block, builder);
      }
}

} // namespace

void quern::useMaxInstructions(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *choice = dyn_cast<SelectInst>(&instruction);
    auto *compare = choice ? dyn_cast<FCmpInst>(choice->getCondition()) : nullptr;
    if (!compare || !hasInstruction(choice->getType()) || compare->getOperand(0) != choice->getTrueValue() ||
        compare->getOperand(1) != choice->getFalseValue())
      continue;
    const Intrinsic::ID id = instructionFor(*compare);
    if (id == Intrinsic::not_intrinsic)
      continue;
    IRBuilder<> builder(choice);
    choice->replaceAllUsesWith(builder.CreateBinaryIntrinsic(id, choice->getTrueValue(), choice->getFalseValue()));
    choice->eraseFromParent();
    if (compare->use_empty())
      compare->eraseFromParent();
  }
}

void quern::placeFloatVectors(Function &function) {
  constexpr size_t most = 20; // of 32 registers
  forEachInnermost(function, [](BasicBlock &block, IRBuilder<> &before) {
    MapVector<Constant *, SmallVector<Use *>> uses;
    for (Instruction &instruction : block)
      if (!isa<PHINode>(instruction))
        for (Use &use : instruction.operands())
          if (auto *constant = dyn_cast<ConstantDataVector>(use.get());
              constant && constant->getElementType()->isFloatingPointTy() && !constant->isNullValue())
            uses[constant].push_back(&use);
    if (uses.size() > most)
      return;
    for (auto &[constant, places] : uses) {
      Value *value = before.CreateFreeze(constant);
      for (Use *use : places)
        use->set(value);
    }
  });
}

void quern::placeAddresses(Function &function) {
  forEachInnermost(function, [](BasicBlock &block, IRBuilder<> &before) {
    auto isInside = [&](const Value *value) {
      auto *instruction = dyn_cast<Instruction>(value);
      return instruction && instruction->getParent() == &block;
    };
    DenseMap<std::tuple<Value *, Value *, Type *>, Value *> made; // by what they add to which address, in elements
    for (Instruction &instruction : make_early_inc_range(block)) {
      auto *address = dyn_cast<GetElementPtrInst>(&instruction);
      auto *sum = address && address->getNumIndices() == 1 ? dyn_cast<BinaryOperator>(address->getOperand(1)) : nullptr;
      if (!sum || sum->getOpcode() != Instruction::Add || !isInside(sum) || isInside(address->getPointerOperand()))
        continue;
      const bool isFirstSame = !isInside(sum->getOperand(0));
      Value *same = sum->getOperand(isFirstSame ? 0 : 1), *other = sum->getOperand(isFirstSame ? 1 : 0);
      if (isInside(same) || isa<Constant>(same))
        continue;
      Value *&base = made[{address->getPointerOperand(), same, address->getSourceElementType()}];
      if (!base)
        base = before.CreateGEP(address->getSourceElementType(), address->getPointerOperand(), same);
      address->setOperand(0, base);
      address->setOperand(1, other);
      address->setNoWrapFlags(GEPNoWrapFlags::none());
      if (sum->use_empty())
        sum->eraseFromParent();
    }
  });
}
