//===- Selection.cpp - IR rewrites for better instruction selection -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/Selection.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/MDBuilder.h"

#include <tuple>

using namespace llvm;

namespace {

/// Returns true for a constant that is neither zero nor NaN: zeros of either sign compare equal, but the instructions
/// order them.
bool isOrdered(const Value *value) {
  const auto *constant = dyn_cast<Constant>(value);
  const auto *number =
      constant ? dyn_cast_or_null<ConstantFP>(constant->getType()->isVectorTy() ? constant->getSplatValue()
                                                                                : const_cast<Constant *>(constant))
               : nullptr;
  return number && !number->isZero() && !number->isNaN();
}

/// Returns true for results of arithmetic, which are never signaling NaNs.
bool isComputed(const Value *value) {
  const auto *instruction = dyn_cast<Instruction>(value);
  return instruction && (instruction->isBinaryOp() || isa<FPExtInst, FPTruncInst>(instruction));
}

/// Returns the instruction for the maximum (minimum) of a comparison's operands. If one is NaN, the result is the
/// second operand: the constant, or NaN if the constant is the first.
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

constexpr unsigned minSums = 8; ///< minimum number of carried vectors in a loop of products

/// Returns the number of vectors that a loop carries between iterations, such as sums.
unsigned carriedVectors(const BasicBlock &loop) {
  return static_cast<unsigned>(count_if(loop.phis(), [](const PHINode &phi) { return phi.getType()->isVectorTy(); }));
}

/// An address at a constant distance from another, which a loop computes.
struct OffsetAddress {
  GetElementPtrInst *address;
  int64_t bytes;
};

/// Addresses close enough to the first of them that accesses can encode the difference.
struct Near {
  int64_t bytes; ///< distance of the first address
  SmallVector<OffsetAddress> addresses;
};

SmallVector<Near> nearAddresses(GetElementPtrInst &of, int64_t offsetRange) {
  const DataLayout &layout = of.getModule()->getDataLayout();
  SmallVector<OffsetAddress> all;
  for (User *user : of.users())
    if (auto *address = dyn_cast<GetElementPtrInst>(user); address && address->getParent() == of.getParent())
      if (APInt bytes(layout.getIndexTypeSizeInBits(address->getType()), 0);
          address->accumulateConstantOffset(layout, bytes))
        all.push_back({address, bytes.getSExtValue()});
  llvm::sort(all, [](const OffsetAddress &a, const OffsetAddress &b) { return a.bytes < b.bytes; });
  SmallVector<Near> found;
  for (const OffsetAddress &member : all) {
    if (found.empty() || member.bytes - found.back().bytes >= offsetRange)
      found.push_back({member.bytes, {}});
    found.back().addresses.push_back(member);
  }
  return found;
}

/// Calls f(loop, builder before it) for each loop of one block that only one other block precedes.
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

void quern::useRegisterLists(Function &function) {
  constexpr unsigned granuleBits = 128, count = 4;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    auto *type = load ? dyn_cast<FixedVectorType>(load->getType()) : nullptr;
    if (!type || !load->isSimple() || type->getPrimitiveSizeInBits() != TypeSize::getFixed(granuleBits * count) ||
        !all_of(load->users(), [](const User *user) { return isa<ShuffleVectorInst>(user); }))
      continue;
    IRBuilder<> builder(load);
    auto *part = FixedVectorType::get(type->getElementType(), type->getNumElements() / count);
    Value *list = builder.CreateIntrinsic(Intrinsic::aarch64_neon_ld1x4, {part, load->getPointerOperandType()},
                                          {load->getPointerOperand()});
    SmallVector<Value *, count> parts;
    for (unsigned i = 0; i < count; ++i)
      parts.push_back(builder.CreateExtractValue(list, i));
    load->replaceAllUsesWith(concatenateVectors(builder, parts));
    load->eraseFromParent();
  }
}

void quern::placeFloatVectors(Function &function) {
  constexpr size_t maxConstants = 20; // there are 32 registers
  forEachInnermost(function, [](BasicBlock &block, IRBuilder<> &before) {
    MapVector<Constant *, SmallVector<Use *>> uses;
    for (Instruction &instruction : block)
      if (!isa<PHINode>(instruction))
        for (Use &use : instruction.operands())
          if (auto *constant = dyn_cast<ConstantDataVector>(use.get());
              constant && constant->getElementType()->isFloatingPointTy() && !constant->isNullValue())
            uses[constant].push_back(&use);
    if (uses.size() > maxConstants)
      return;
    for (auto &[constant, places] : uses) {
      Value *value = before.CreateFreeze(constant);
      for (Use *use : places)
        use->set(value);
    }
  });
}

void quern::placePanels(Function &function, int64_t offsetRange) {
  constexpr size_t maxAddedRegisters = 10;   // there are 31 registers, which enclosing loops need as well
  constexpr int64_t minPanelBytes = 1 << 16; // exceeds any offset that an access can encode
  forEachInnermost(function, [&](BasicBlock &block, IRBuilder<> &before) {
    if (carriedVectors(block) < minSums)
      return;
    SmallVector<GetElementPtrInst *> bases;
    for (Instruction &instruction : block)
      if (auto *base = dyn_cast<GetElementPtrInst>(&instruction);
          base && base->getNumIndices() == 1 && isa<Instruction>(base->getOperand(1)))
        if (auto *from = dyn_cast<Instruction>(base->getPointerOperand()); !from || from->getParent() != &block)
          bases.push_back(base);
    SmallVector<std::pair<GetElementPtrInst *, Near>> panels;
    size_t addedRegisters = 0;
    for (GetElementPtrInst *base : bases) {
      SmallVector<Near> all = nearAddresses(*base, offsetRange);
      if (all.empty() || all.back().bytes < minPanelBytes)
        continue;
      const size_t known = panels.size();
      size_t users = 0;
      for (Near &near : all)
        if (users += near.addresses.size();
            near.bytes >= minPanelBytes || (near.bytes >= offsetRange && near.addresses.size() > 1))
          panels.emplace_back(base, std::move(near));
      const bool coversAll = panels.size() - known == all.size() && base->hasNUses(static_cast<unsigned>(users));
      addedRegisters += panels.size() - known - (coversAll ? 1 : 0); // then the base's register is free
    }
    if (addedRegisters > maxAddedRegisters)
      return;
    for (auto &[base, near] : panels) {
      Value *panel = before.CreatePtrAdd(base->getPointerOperand(), before.getInt64(near.bytes));
      IRBuilder<> afterBase(base->getNextNode());
      Value *panelAddress = afterBase.CreateGEP(base->getSourceElementType(), panel, base->getOperand(1));
      for (const OffsetAddress &member : near.addresses) {
        IRBuilder<> here(member.address);
        const int64_t bytes = member.bytes - near.bytes;
        member.address->replaceAllUsesWith(bytes ? here.CreatePtrAdd(panelAddress, here.getInt64(bytes))
                                                 : panelAddress);
        member.address->eraseFromParent();
      }
    }
  });
}

void quern::annotateTripCounts(Function &function) {
  forEachInnermost(function, [](BasicBlock &block, IRBuilder<> &) {
    auto *jump = dyn_cast<BranchInst>(block.getTerminator());
    auto *compare = jump && jump->isConditional() ? dyn_cast<ICmpInst>(jump->getCondition()) : nullptr;
    auto *next = compare ? dyn_cast<BinaryOperator>(compare->getOperand(0)) : nullptr;
    auto *end = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
    auto *index = next ? dyn_cast<PHINode>(next->getOperand(0)) : nullptr;
    auto *step = next ? dyn_cast<ConstantInt>(next->getOperand(1)) : nullptr;
    if (!end || !index || !step || next->getOpcode() != Instruction::Add || index->getParent() != &block ||
        compare->getPredicate() != CmpInst::ICMP_SLT || jump->getSuccessor(0) != &block)
      return;
    auto *begin = dyn_cast<ConstantInt>(index->getIncomingValue(index->getIncomingBlock(0) == &block ? 1 : 0));
    if (!begin || step->getSExtValue() <= 0 || end->getSExtValue() <= begin->getSExtValue())
      return;
    const int64_t tripCount = (end->getSExtValue() - begin->getSExtValue() - 1) / step->getSExtValue() + 1;
    constexpr int64_t ofOthers = 32, ofProducts = 128;
    const int64_t annotated =
        carriedVectors(block) < minSums ? std::min(tripCount, ofOthers) : std::max(tripCount, ofProducts);
    jump->setMetadata(LLVMContext::MD_prof,
                      MDBuilder(block.getContext()).createBranchWeights(static_cast<uint32_t>(annotated - 1), 1));
  });
}

void quern::placeAddresses(Function &function) {
  forEachInnermost(function, [](BasicBlock &block, IRBuilder<> &before) {
    auto isInside = [&](const Value *value) {
      auto *instruction = dyn_cast<Instruction>(value);
      return instruction && instruction->getParent() == &block;
    };
    DenseMap<std::tuple<Value *, Value *, Type *>, Value *> bases; // by base, invariant term and element type
    for (Instruction &instruction : make_early_inc_range(block)) {
      auto *address = dyn_cast<GetElementPtrInst>(&instruction);
      auto *sum = address && address->getNumIndices() == 1 ? dyn_cast<BinaryOperator>(address->getOperand(1)) : nullptr;
      if (!sum || sum->getOpcode() != Instruction::Add || !isInside(sum) || isInside(address->getPointerOperand()))
        continue;
      const bool isFirstSame = !isInside(sum->getOperand(0));
      Value *same = sum->getOperand(isFirstSame ? 0 : 1), *other = sum->getOperand(isFirstSame ? 1 : 0);
      if (isInside(same) || isa<Constant>(same))
        continue;
      Value *&base = bases[{address->getPointerOperand(), same, address->getSourceElementType()}];
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
