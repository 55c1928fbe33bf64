//===- ScalableVectors.cpp - What LLVM does better with scalable vectors -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM computes vectors of fixed length on SVE's registers, with two exceptions that matter here. What a comparison
// gives is a vector of integers, of which three instructions make a predicate again. And a shuffle of two vectors that
// is no instruction goes through memory, element by element; two table look-ups, in which an index beyond the table
// gives zero, and an OR are the same.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/ScalableVectors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAArch64.h"

using namespace llvm;

namespace {

class Rewriter {
public:
  Rewriter(Instruction &at, unsigned granules) : builder(&at), granules(granules) {}

  bool isRegister(const Value *value) const {
    constexpr uint64_t granuleBits = 128;
    auto *type = dyn_cast<FixedVectorType>(value->getType());
    return type && !type->getElementType()->isPointerTy() &&
           type->getPrimitiveSizeInBits() == TypeSize::getFixed(granuleBits * granules);
  }

  Value *chosen(CmpInst &compare, SelectInst &choice) {
    Value *condition =
        builder.CreateCmp(compare.getPredicate(), scalable(compare.getOperand(0)), scalable(compare.getOperand(1)));
    Value *result = builder.CreateSelect(condition, scalable(choice.getTrueValue()), scalable(choice.getFalseValue()));
    return builder.CreateExtractVector(choice.getType(), result, uint64_t(0));
  }

  Value *shuffled(ShuffleVectorInst &shuffle) {
    auto *type = cast<FixedVectorType>(shuffle.getType());
    auto *integers = FixedVectorType::get(builder.getIntNTy(type->getScalarSizeInBits()), type->getNumElements());
    Value *first = lookUp(shuffle.getOperand(0), integers, shuffle.getShuffleMask(), 0);
    Value *second = lookUp(shuffle.getOperand(1), integers, shuffle.getShuffleMask(), type->getNumElements());
    Value *result = builder.CreateExtractVector(integers, builder.CreateOr(first, second), uint64_t(0));
    return builder.CreateBitCast(result, type);
  }

private:
  Value *scalable(Value *value) {
    auto *fixed = cast<FixedVectorType>(value->getType());
    auto *type = ScalableVectorType::get(fixed->getElementType(), fixed->getNumElements() / granules);
    return builder.CreateInsertVector(type, PoisonValue::get(type), value, uint64_t(0));
  }

  /// The elements that `mask` takes of `table`, which are numbered from `begin` on; zeros elsewhere.
  Value *lookUp(Value *table, FixedVectorType *integers, ArrayRef<int> mask, unsigned begin) {
    SmallVector<Constant *> indices;
    for (int element : mask) {
      const unsigned index = static_cast<unsigned>(element) - begin;
      const bool isOfTable = element >= 0 && index < integers->getNumElements();
      indices.push_back(ConstantInt::get(integers->getElementType(), isOfTable ? index : integers->getNumElements()));
    }
    Value *from = scalable(builder.CreateBitCast(table, integers));
    return builder.CreateIntrinsic(Intrinsic::aarch64_sve_tbl, {from->getType()},
                                   {from, scalable(ConstantVector::get(indices))});
  }

  IRBuilder<> builder;
  unsigned granules;
};

/// Whether LLVM has an instruction, or two without memory, for a shuffle of two whole registers.
bool isInstruction(const ShuffleVectorInst &shuffle) {
  const ArrayRef<int> mask = shuffle.getShuffleMask();
  const int count = static_cast<int>(mask.size());
  auto is = [&](auto elementAt) {
    return all_of(seq<int>(0, count), [&](int i) { return mask[i] < 0 || mask[i] == elementAt(i); });
  };
  for (int which : {0, 1})
    if (is([&](int i) { return i / 2 + which * count / 2 + i % 2 * count; }) || // zip
        is([&](int i) { return 2 * i + which; }) ||                             // uzp
        is([&](int i) { return i / 2 * 2 + which + i % 2 * count; }))           // trn
      return true;
  return shuffle.isConcat() || is([&](int i) { return i < count / 2 ? i : count / 2 + i; });
}

/// What replaces an instruction; null if it stays.
Value *replacementOf(Instruction &instruction, unsigned granules) {
  Rewriter rewriter(instruction, granules);
  if (!rewriter.isRegister(&instruction))
    return nullptr;
  if (auto *choice = dyn_cast<SelectInst>(&instruction)) {
    auto *compare = dyn_cast<CmpInst>(choice->getCondition());
    return compare && rewriter.isRegister(compare->getOperand(0)) ? rewriter.chosen(*compare, *choice) : nullptr;
  }
  auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
  const bool mixes = shuffle && shuffle->getType() == shuffle->getOperand(0)->getType() && !shuffle->isSingleSource() &&
                     !isa<UndefValue>(shuffle->getOperand(1));
  return mixes && !isInstruction(*shuffle) ? rewriter.shuffled(*shuffle) : nullptr;
}

} // namespace

void quern::useScalableVectors(Function &function, unsigned granules) {
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (Value *replacement = replacementOf(instruction, granules)) {
      instruction.replaceAllUsesWith(replacement);
      instruction.eraseFromParent();
    }
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (isa<CmpInst>(instruction) && instruction.use_empty())
      instruction.eraseFromParent();
}
