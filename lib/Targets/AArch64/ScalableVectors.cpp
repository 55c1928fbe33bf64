//===- ScalableVectors.cpp - Conversion to scalable vectors ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM computes fixed-length vectors in SVE registers, with three relevant exceptions. The result of a comparison is a
// vector of integers, which three instructions convert back to a predicate. A shuffle of two vectors without an
// instruction goes through memory, element by element; two table lookups, in which an index beyond the table returns
// zero, and an OR do the same. And values as short as a NEON register are loaded and stored as one, and widened or
// narrowed by another instruction, although SVE loads can widen and its stores can narrow.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/ScalableVectors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/PatternMatch.h"

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

  /// Widens a vector while it is loaded.
  Value *widened(CastInst &cast, LoadInst &load) {
    builder.SetInsertPoint(&load);
    Value *narrow = builder.CreateAlignedLoad(scalable(load.getType()), load.getPointerOperand(), load.getAlign());
    builder.SetInsertPoint(&cast);
    Value *wide = builder.CreateCast(cast.getOpcode(), narrow, scalable(cast.getType()));
    return builder.CreateExtractVector(cast.getType(), wide, uint64_t(0));
  }

  /// Creates a store that narrows its vector; `store` may store the bits as integers.
  void storeNarrowed(StoreInst &store, FPTruncInst &narrowed) {
    Value *value = builder.CreateFPTrunc(scalable(narrowed.getOperand(0)), scalable(narrowed.getType()));
    value = builder.CreateBitCast(value, scalable(store.getValueOperand()->getType()));
    builder.CreateAlignedStore(value, store.getPointerOperand(), store.getAlign());
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
  ScalableVectorType *scalable(Type *type) {
    auto *fixed = cast<FixedVectorType>(type);
    return ScalableVectorType::get(fixed->getElementType(), fixed->getNumElements() / granules);
  }

  Value *scalable(Value *value) {
    ScalableVectorType *type = scalable(value->getType());
    return builder.CreateInsertVector(type, PoisonValue::get(type), value, uint64_t(0));
  }

  /// Returns the elements that `mask` selects from `table`, whose indices start at `begin`; zeros elsewhere.
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

/// Returns true if LLVM has an instruction, or two without memory, for a shuffle of two whole registers.
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

/// Returns false for non-temporal accesses, which have other instructions.
bool isPlain(const Instruction &access) { return !access.hasMetadata(LLVMContext::MD_nontemporal); }

/// Returns the load whose only user is the widening cast in the same block; null if there is none.
LoadInst *widenedLoad(const CastInst &cast) {
  auto *load = dyn_cast<LoadInst>(cast.getOperand(0));
  constexpr unsigned byteBits = 8; // masks are narrower
  const bool widens = isa<ZExtInst, SExtInst, FPExtInst>(cast) && cast.getSrcTy()->getScalarSizeInBits() >= byteBits;
  return widens && load && load->hasOneUse() && load->getParent() == cast.getParent() && isPlain(*load) ? load
                                                                                                        : nullptr;
}

/// Rewrites stores that narrow a whole register of floats.
void narrowInStores(Function &function, unsigned granules) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *store = dyn_cast<StoreInst>(&instruction);
    if (!store || !isPlain(*store))
      continue;
    Value *value = store->getValueOperand();
    if (auto *bits = dyn_cast<BitCastInst>(value); bits && bits->hasOneUse() && isa<FixedVectorType>(bits->getType()))
      value = bits->getOperand(0);
    auto *narrowed = dyn_cast<FPTruncInst>(value);
    if (!narrowed || !narrowed->hasOneUse() ||
        narrowed->getType()->getPrimitiveSizeInBits() !=
            store->getValueOperand()->getType()->getPrimitiveSizeInBits() ||
        narrowed->getType()->getScalarSizeInBits() != store->getValueOperand()->getType()->getScalarSizeInBits())
      continue;
    Rewriter rewriter(*store, granules);
    if (!rewriter.isRegister(narrowed->getOperand(0)))
      continue;
    rewriter.storeNarrowed(*store, *narrowed);
    Value *stored = store->getValueOperand();
    store->eraseFromParent();
    if (auto *bits = dyn_cast<BitCastInst>(stored))
      bits->eraseFromParent();
    narrowed->eraseFromParent();
  }
}

/// Returns the number of leading elements that a mask enables; null for other masks.
Value *prefixOf(const Value *mask) {
  auto *compare = dyn_cast<ICmpInst>(mask);
  if (!compare || !isa<FixedVectorType>(compare->getType()))
    return nullptr;
  const bool isGreater = compare->getPredicate() == CmpInst::ICMP_SGT;
  if (!isGreater && compare->getPredicate() != CmpInst::ICMP_SLT)
    return nullptr;
  auto *places = dyn_cast<ConstantDataVector>(compare->getOperand(isGreater ? 1 : 0));
  if (!places || any_of(seq<unsigned>(0, places->getNumElements()),
                        [&](unsigned i) { return places->getElementAsInteger(i) != i; }))
    return nullptr;
  return getSplatValue(compare->getOperand(isGreater ? 0 : 1));
}

/// Creates the predicates of loads of leading elements where the mask is computed, not in each iteration.
void usePrefixPredicates(Function &function, unsigned granules) {
  constexpr unsigned granuleBits = 128;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *load = dyn_cast<IntrinsicInst>(&instruction);
    if (!load || load->getIntrinsicID() != Intrinsic::masked_load || !isPlain(*load))
      continue;
    auto *type = cast<FixedVectorType>(load->getType());
    auto *mask = dyn_cast<Instruction>(load->getArgOperand(1));
    Value *prefix = mask ? prefixOf(mask) : nullptr;
    const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue(), ofRegister = uint64_t(granuleBits) * granules;
    if (!prefix || bits % ofRegister || !match(load->getArgOperand(2), PatternMatch::m_Zero()))
      continue;
    const auto count = static_cast<unsigned>(bits / ofRegister), elements = type->getNumElements() / count;
    auto *part = FixedVectorType::get(type->getElementType(), elements);
    auto *whole = ScalableVectorType::get(type->getElementType(), elements / granules);
    IRBuilder<> builder(load), afterMask(mask->getParent(), std::next(mask->getIterator()));
    SmallVector<Value *> parts;
    for (unsigned i = 0; i < count; ++i) {
      Value *predicate = afterMask.CreateIntrinsic(
          Intrinsic::aarch64_sve_whilelt,
          {ScalableVectorType::get(afterMask.getInt1Ty(), elements / granules), prefix->getType()},
          {ConstantInt::get(prefix->getType(), uint64_t(i) * elements), prefix});
      Value *place = builder.CreateConstGEP1_64(part, load->getArgOperand(0), i);
      const Align align = commonAlignment(load->getParamAlign(0).valueOrOne(), i * ofRegister / 8);
      Value *loaded = builder.CreateMaskedLoad(whole, place, align, predicate, Constant::getNullValue(whole));
      parts.push_back(builder.CreateExtractVector(part, loaded, uint64_t(0)));
    }
    load->replaceAllUsesWith(count > 1 ? concatenateVectors(builder, parts) : parts[0]);
    load->eraseFromParent();
  }
}

/// Returns the replacement of an instruction; null if it is kept.
Value *replacementOf(Instruction &instruction, unsigned granules) {
  Rewriter rewriter(instruction, granules);
  if (!rewriter.isRegister(&instruction))
    return nullptr;
  if (auto *choice = dyn_cast<SelectInst>(&instruction)) {
    auto *compare = dyn_cast<CmpInst>(choice->getCondition());
    return compare && rewriter.isRegister(compare->getOperand(0)) ? rewriter.chosen(*compare, *choice) : nullptr;
  }
  if (auto *cast = dyn_cast<CastInst>(&instruction)) {
    LoadInst *load = widenedLoad(*cast);
    return load ? rewriter.widened(*cast, *load) : nullptr;
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
      auto *load = isa<CastInst>(instruction) ? dyn_cast<LoadInst>(instruction.getOperand(0)) : nullptr;
      instruction.replaceAllUsesWith(replacement);
      instruction.eraseFromParent();
      if (load)
        load->eraseFromParent();
    }
  narrowInStores(function, granules);
  usePrefixPredicates(function, granules);
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (isa<CmpInst>(instruction) && instruction.use_empty())
      instruction.eraseFromParent();
}
