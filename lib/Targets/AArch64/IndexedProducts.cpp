//===- IndexedProducts.cpp - Products by an element of a register ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Selection finds most of the NEON forms. SVE forms take the element from each 128 bits of a register, so the 128 bits
// are first repeated, once for all of their elements; a load can include that.
//
//===----------------------------------------------------------------------===//
#include "Targets/AArch64/IndexedProducts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned granuleBits = 128, laneBits = 32; ///< bits of a dot's lane

/// A value with element `index` of `from`, which has 128 bits, in all lanes. `from` is null for other values.
struct Repeated {
  Value *from = nullptr;
  uint64_t index = 0;
};

/// Strips casts, which do not change bits.
Value *stripCasts(Value *value) {
  while (auto *cast = dyn_cast<BitCastInst>(value))
    value = cast->getOperand(0);
  return value;
}

Repeated repeatedIn(Value *value, unsigned bits) {
  value = stripCasts(value);
  Repeated found;
  ArrayRef<int> mask;
  Value *element = nullptr;
  if (!match(value, m_Shuffle(m_InsertElt(m_Value(), m_Value(element), m_ZeroInt()), m_Value(), m_Mask(mask))) ||
      !all_of(mask, [](int lane) { return lane <= 0; }) ||
      !match(element, m_ExtractElt(m_Value(found.from), m_ConstantInt(found.index))) ||
      element->getType()->getPrimitiveSizeInBits() != bits ||
      found.from->getType()->getPrimitiveSizeInBits() != granuleBits || !isa<Instruction>(found.from) ||
      isa<PHINode>(found.from))
    return {};
  return found;
}

/// A dot, the factor that may be an element, and the indexed form. The dot of unsigned and signed bytes has two
/// entries; its first factor is the unsigned one.
struct IndexedDot {
  Intrinsic::ID dot;
  unsigned element;
  Intrinsic::ID name;
};
constexpr IndexedDot indexedDots[] = {
    {Intrinsic::aarch64_sve_bfdot, 2, Intrinsic::aarch64_sve_bfdot_lane_v2},
    {Intrinsic::aarch64_sve_sdot, 2, Intrinsic::aarch64_sve_sdot_lane},
    {Intrinsic::aarch64_sve_udot, 2, Intrinsic::aarch64_sve_udot_lane},
    {Intrinsic::aarch64_sve_usdot, 2, Intrinsic::aarch64_sve_usdot_lane},
    {Intrinsic::aarch64_sve_usdot, 1, Intrinsic::aarch64_sve_sudot_lane},
};

class Rewriter {
public:
  explicit Rewriter(unsigned granules) : granules(granules) {}

  /// Returns the replacement of a shuffle that repeats 128 bits in a register; null for other shuffles.
  Value *ofRepetition(ShuffleVectorInst &shuffle) {
    auto *type = dyn_cast<FixedVectorType>(shuffle.getType());
    auto *from = dyn_cast<Instruction>(shuffle.getOperand(0));
    auto bitsOf = [](const Value *value) { return value->getType()->getPrimitiveSizeInBits().getFixedValue(); };
    if (granules == 1 || !type || bitsOf(&shuffle) != uint64_t(granuleBits) * granules || !from ||
        bitsOf(from) != granuleBits || isa<PHINode>(from))
      return nullptr;
    const int count = static_cast<int>(granuleBits / type->getScalarSizeInBits());
    for (auto [i, element] : enumerate(shuffle.getShuffleMask()))
      if (element != static_cast<int>(i) % count)
        return nullptr;
    IRBuilder<> builder(&shuffle);
    return builder.CreateExtractVector(type, granulesOf(from, type->getElementType()), uint64_t(0));
  }

  Value *ofProduct(IntrinsicInst &product) {
    if (product.getIntrinsicID() == Intrinsic::aarch64_neon_bfdot)
      ofPairs(product);
    Value *replacement = product.getIntrinsicID() == Intrinsic::fma ? ofFma(product) : nullptr;
    for (const IndexedDot &indexed : indexedDots)
      if (!replacement && product.getIntrinsicID() == indexed.dot)
        replacement = ofDot(product, indexed);
    return replacement;
  }

private:
  /// Returns the replacement of acc + x · element; null if no factor of the multiply-add is an element. With 128-bit
  /// registers, selection finds the NEON form.
  Value *ofFma(IntrinsicInst &fma) {
    auto *type = dyn_cast<FixedVectorType>(fma.getType());
    if (!type || granules == 1 ||
        type->getPrimitiveSizeInBits() != TypeSize::getFixed(uint64_t(granuleBits) * granules))
      return nullptr;
    const unsigned bits = type->getScalarSizeInBits();
    for (unsigned which : {0U, 1U})
      if (const Repeated repeated = repeatedIn(fma.getArgOperand(which), bits); repeated.from) {
        IRBuilder<> builder(&fma);
        Value *acc = scalable(builder, fma.getArgOperand(2)), *other = scalable(builder, fma.getArgOperand(1 - which));
        Value *result = builder.CreateIntrinsic(
            Intrinsic::aarch64_sve_fmla_lane, {acc->getType()},
            {acc, other, granulesOf(repeated.from, type->getElementType()), builder.getInt32(repeated.index)});
        return builder.CreateExtractVector(type, result, uint64_t(0));
      }
    return nullptr;
  }

  /// Returns the replacement of a dot whose factor `indexed.element` is a repeated element; null for other dots.
  Value *ofDot(IntrinsicInst &dot, const IndexedDot &indexed) {
    Value *factor = dot.getArgOperand(indexed.element);
    auto *insert = dyn_cast<IntrinsicInst>(stripCasts(factor));
    if (!insert || insert->getIntrinsicID() != Intrinsic::vector_insert)
      return nullptr;
    const Repeated repeated = repeatedIn(insert->getArgOperand(1), laneBits);
    if (!repeated.from)
      return nullptr;
    IRBuilder<> builder(&dot);
    constexpr unsigned factors = 3; // sum of the indices of both factors
    SmallVector<Type *, 1> types;
    if (Intrinsic::isOverloaded(indexed.name))
      types.push_back(dot.getType());
    return builder.CreateIntrinsic(indexed.name, types,
                                   {dot.getArgOperand(0), dot.getArgOperand(factors - indexed.element),
                                    granulesOf(repeated.from, cast<VectorType>(factor->getType())->getElementType()),
                                    builder.getInt32(repeated.index)});
  }

  /// Rewrites a NEON dot by an element. Selection finds the indexed form if the pairs are elements of a bf16 register;
  /// the fence prevents LLVM from folding the cast.
  void ofPairs(IntrinsicInst &dot) {
    const Repeated repeated = repeatedIn(dot.getArgOperand(2), laneBits);
    if (!repeated.from)
      return;
    IRBuilder<> builder(&dot);
    auto *type = cast<FixedVectorType>(dot.getArgOperand(2)->getType());
    const int first = 2 * static_cast<int>(repeated.index);
    SmallVector<int> mask;
    for (unsigned pair = 0; pair < type->getNumElements() / 2; ++pair)
      mask.append({first, first + 1});
    Value *&pairs = created[{repeated.from, type}];
    if (!pairs) {
      auto *from = cast<Instruction>(repeated.from);
      IRBuilder<> afterFrom(from->getParent(), std::next(from->getIterator()));
      pairs = afterFrom.CreateIntrinsic(Intrinsic::arithmetic_fence, {type}, {afterFrom.CreateBitCast(from, type)});
    }
    dot.setArgOperand(2, builder.CreateShuffleVector(pairs, mask));
  }

  Value *scalable(IRBuilder<> &builder, Value *value) {
    auto *fixed = cast<FixedVectorType>(value->getType());
    auto *type = ScalableVectorType::get(fixed->getElementType(), fixed->getNumElements() / granules);
    return builder.CreateInsertVector(type, PoisonValue::get(type), value, uint64_t(0));
  }

  /// Returns a register that repeats the 128 bits of `from`. It is created once, after the definition of `from`.
  Value *granulesOf(Value *from, Type *element) {
    Value *&whole = created[{from, element}];
    if (whole)
      return whole;
    auto *definition = cast<Instruction>(from);
    IRBuilder<> builder(definition->getParent(), std::next(definition->getIterator()));
    const unsigned count = granuleBits / element->getScalarSizeInBits();
    Value *shaped = builder.CreateBitCast(from, FixedVectorType::get(element, count));
    auto *type = ScalableVectorType::get(element, count);
    Value *first = builder.CreateInsertVector(type, PoisonValue::get(type), shaped, uint64_t(0));
    return whole = builder.CreateIntrinsic(Intrinsic::aarch64_sve_dupq_lane, {type}, {first, builder.getInt64(0)});
  }

  unsigned granules;
  DenseMap<std::pair<Value *, Type *>, Value *> created; ///< created values by repeated value and type
};

} // namespace

void quern::useIndexedProducts(Function &function, unsigned granules) {
  Rewriter rewriter(granules);
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *product = dyn_cast<IntrinsicInst>(&instruction);
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction);
    Value *replacement = shuffle ? rewriter.ofRepetition(*shuffle) : product ? rewriter.ofProduct(*product) : nullptr;
    if (!replacement)
      continue;
    instruction.replaceAllUsesWith(replacement);
    instruction.eraseFromParent();
  }
}
