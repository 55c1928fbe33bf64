//===- ExpandDots.cpp - Products of packed elements on AArch64 -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NEON's instructions are on registers of 128 bits; SVE's are on registers of any length, of which a vector of fixed
// length is a part for LLVM.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Dots/PackedDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace quern {
namespace {

constexpr int64_t neonLanes = 4; ///< of 32 bits

class Expansion : DotBuilder {
public:
  using DotBuilder::DotBuilder;

  Value expand(VectorIsa isa) {
    const Type sum = getElementTypeOrSelf(op.getResultType());
    const bool fits = dot.lanes == neonLanes || (isSve(isa) && dot.lanes % neonLanes == 0);
    if (dot.element().isBF16() && sum.isF32() && dot.packed == 2 && fits && hasArmBf16(isa))
      return dotOf(isa, "bfdot", first(), flat(dot.second));
    if (dot.element().isInteger(8) && sum.isInteger(32) && dot.packed == 4 && fits && hasArmDotprod(isa)) {
      if (dot.isFirstSigned == dot.isSecondSigned)
        return dotOf(isa, dot.isFirstSigned ? "sdot" : "udot", first(), flat(dot.second));
      if (hasArmBf16(isa))
        return dot.isFirstSigned ? dotOf(isa, "usdot", flat(dot.second), first())
                                 : dotOf(isa, "usdot", first(), flat(dot.second));
    }
    if (dot.element().isInteger(16) && sum.isInteger(32) && dot.packed == 2 && !dot.isFirstOne)
      return halves(dot.isFirstSigned && dot.isSecondSigned);
    return {};
  }

private:
  Value first() {
    if (!dot.isFirstOne)
      return flat(dot.first);
    return once(dot.first, [&] { return broadcastFirst(dot.first, VectorType::get({1}, b.getI32Type())); });
  }

  Value dotOf(VectorIsa isa, StringRef name, Value first, Value second) {
    if (dot.lanes == neonLanes && isa != VectorIsa::Sve) // whose machines may have none of NEON's
      return call(("llvm.aarch64.neon." + name).str(), op.getResultType(), {op.getAcc(), first, second});
    // The register of a fixed length that is known from the function is all of SVE's.
    auto scalable = [&](Value v) -> Value {
      auto fixed = cast<VectorType>(v.getType());
      auto type = VectorType::get({fixed.getNumElements() * neonLanes / dot.lanes}, fixed.getElementType(), {true});
      Value poison = ub::PoisonOp::create(b, loc, type);
      return vector::ScalableInsertOp::create(b, loc, v, poison, 0);
    };
    Value acc = scalable(op.getAcc());
    Value result = call(("llvm.aarch64.sve." + name).str(), acc.getType(), {acc, scalable(first), scalable(second)});
    return vector::ScalableExtractOp::create(b, loc, cast<VectorType>(op.getResultType()), result, 0);
  }

  /// Products of the first and of the second elements of all lanes, which widen as they are made.
  Value halves(bool areSigned) {
    Value sum = op.getAcc();
    for (int64_t which : {0, 1}) {
      auto element = [&](Value shaped) {
        Value all = flat(shaped);
        SmallVector<int64_t> lanes;
        for (int64_t lane = 0; lane < dot.lanes; ++lane)
          lanes.push_back(2 * lane + which);
        Value narrow = vector::ShuffleOp::create(b, loc, all, all, lanes);
        auto wide = cast<VectorType>(op.getResultType());
        return areSigned ? arith::ExtSIOp::create(b, loc, wide, narrow).getResult()
                         : arith::ExtUIOp::create(b, loc, wide, narrow).getResult();
      };
      sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, element(dot.first), element(dot.second)));
    }
    return sum;
  }
};

} // namespace

Value aarch64Dot(vector::ContractionOp op, const PackedDot &dot, VectorIsa isa, llvm::DenseMap<Value, Value> &made) {
  return Expansion(op, dot, made).expand(isa);
}

} // namespace quern
