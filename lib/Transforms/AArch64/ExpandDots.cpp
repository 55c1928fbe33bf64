//===- ExpandDots.cpp - Products of packed elements on AArch64 -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Transforms/AArch64/Instructions.h"
#include "Transforms/Dots/PackedDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace quern {
namespace {

class Expansion : DotBuilder {
public:
  using DotBuilder::DotBuilder;

  Value expand(const Target &target) {
    const Type sum = getElementTypeOrSelf(op.getResultType());
    const bool fits = aarch64::hasDots(target, dot.lanes);
    if (dot.element().isBF16() && sum.isF32() && dot.packed == 2 && fits && target.has(CpuIsa::NeonBf16))
      return dotOf(target, "bfdot", flat(dot.second), first());
    if (dot.element().isInteger(8) && sum.isInteger(32) && dot.packed == 4 && fits && hasSameSignDots(target)) {
      if (dot.isFirstSigned == dot.isSecondSigned)
        return dotOf(target, dot.isFirstSigned ? "sdot" : "udot", flat(dot.second), first());
      if (target.has(CpuIsa::NeonBf16))
        return dot.isFirstSigned ? dotOf(target, "usdot", flat(dot.second), first())
                                 : dotOf(target, "usdot", first(), flat(dot.second));
    }
    if (dot.element().isInteger(16) && sum.isInteger(32) && dot.packed == 2 && !dot.isFirstOne)
      return halves(dot.isFirstSigned && dot.isSecondSigned);
    return {};
  }

private:
  Value first() {
    if (!dot.isFirstOne)
      return flat(dot.first);
    return once(dot.first, [&] {
      if (Value word = elementOfWords())
        return broadcastWord(word);
      return broadcastFirst(dot.first, VectorType::get({1}, b.getI32Type()));
    });
  }

  /// Returns the word that `dot.first` repeats if it is a broadcast, so that the instruction can use its lane index;
  /// otherwise null.
  Value elementOfWords() {
    auto shaped = dot.first.getDefiningOp<vector::BitCastOp>();
    auto broadcast = shaped ? shaped.getSource().getDefiningOp<vector::BroadcastOp>() : vector::BroadcastOp();
    return broadcast && broadcast.getSource().getType().isInteger(32) ? broadcast.getSource() : Value();
  }

  Value dotOf(const Target &target, StringRef name, Value first, Value second) {
    return aarch64::dot(b, loc, target, name, op.getAcc(), first, second);
  }

  /// Emits widening products and adds adjacent ones.
  Value halves(bool isSigned) {
    const auto wide = VectorType::get({2 * dot.lanes}, b.getI32Type());
    auto widened = [&](Value shaped) -> Value {
      return isSigned ? arith::ExtSIOp::create(b, loc, wide, flat(shaped)).getResult()
                      : arith::ExtUIOp::create(b, loc, wide, flat(shaped)).getResult();
    };
    Value products = arith::MulIOp::create(b, loc, widened(dot.first), widened(dot.second));
    auto every = [&](int64_t which) -> Value {
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < dot.lanes; ++lane)
        lanes.push_back(2 * lane + which);
      return vector::ShuffleOp::create(b, loc, products, products, lanes);
    };
    return arith::AddIOp::create(b, loc, op.getAcc(), arith::AddIOp::create(b, loc, every(0), every(1)));
  }
};

} // namespace

Value aarch64Dot(vector::ContractionOp op, const PackedDot &dot, const Target &target,
                 llvm::DenseMap<Value, Value> &cache) {
  return Expansion(op, dot, cache).expand(target);
}

Value aarch64Patch(OpBuilder &b, Location loc, const PatchDot &dot, const Target &target, Value acc, Value first,
                   Value second) {
  const Type sum = getElementTypeOrSelf(acc.getType());
  if (!target.has(CpuIsa::NeonBf16) || !aarch64::hasDots(target, cast<VectorType>(acc.getType()).getNumElements()))
    return {};
  if (dot.element().isBF16() && sum.isF32() && dot.packed == 4)
    return aarch64::patch(b, loc, target, "bfmmla", acc, first, second);
  if (!dot.element().isInteger(8) || !sum.isInteger(32) || dot.packed != 8 ||
      (dot.isFirstSigned && !dot.isSecondSigned))
    return {};
  return aarch64::patch(b, loc, target,
                        dot.isFirstSigned    ? "smmla"
                        : dot.isSecondSigned ? "usmmla"
                                             : "ummla",
                        acc, first, second);
}

} // namespace quern
