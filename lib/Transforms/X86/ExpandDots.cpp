//===- ExpandDots.cpp - Products of packed elements on x86 ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Transforms/Dots/PackedDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace quern {
namespace {

/// Intrinsics that multiply pairs of 16-bit integers and add the products, for a register.
struct HalfDot {
  int64_t lanes;
  CpuIsa minIsa;
  StringLiteral name;
};
constexpr HalfDot halfDots[] = {{16, CpuIsa::Avx512, "llvm.x86.avx512.pmaddw.d.512"},
                                {8, CpuIsa::Avx2, "llvm.x86.avx2.pmadd.wd"},
                                {4, CpuIsa::Sse42, "llvm.x86.sse2.pmadd.wd"}};

class Expansion : DotBuilder {
public:
  using DotBuilder::DotBuilder;

  /// Emits the product with x86 intrinsics. Returns null if this level has no instruction for it.
  Value expand(const Target &target) {
    Type sum = getElementTypeOrSelf(op.getResultType());
    if (dot.element().isBF16() && sum.isF32() && dot.packed == 2 && dot.lanes == 16 && dot.isFirstOne &&
        target.has(CpuIsa::Avx512Bf16))
      return call("llvm.x86.avx512bf16.dpbf16ps.512", op.getResultType(),
                  {op.getAcc(), broadcastPair(), rounded(flat(dot.second))});
    if (dot.element().isInteger(8) && sum.isInteger(32) && dot.packed == 4 && dot.lanes == 16 &&
        dot.isFirstSigned != dot.isSecondSigned && target.has(CpuIsa::Avx512Vnni)) {
      Value first = dot.isFirstOne ? broadcastPair() : flat(dot.first), second = flat(dot.second);
      if (dot.isFirstSigned) // the instruction takes the unsigned operand first
        std::swap(first, second);
      return call("llvm.x86.avx512.vpdpbusd.512", op.getResultType(), {op.getAcc(), first, second});
    }
    const auto *half = llvm::find_if(
        halfDots, [&](const HalfDot &known) { return known.lanes == dot.lanes && target.has(known.minIsa); });
    if (dot.element().isInteger(16) && sum.isInteger(32) && dot.packed == 2 && !dot.isFirstOne && dot.isFirstSigned &&
        dot.isSecondSigned && half != std::end(halfDots))
      return arith::AddIOp::create(b, loc, op.getAcc(),
                                   call(half->name, op.getResultType(), {flat(dot.first), flat(dot.second)}));
    return {};
  }

private:
  Value broadcastPair() {
    return once(dot.first, [&] {
      Value wide = roundedFrom(dot.first);
      return broadcastFirst(wide ? roundedPair(wide) : dot.first, VectorType::get({wide ? 4 : 1}, b.getI32Type()));
    });
  }
  /// Rounds a pair to bf16 and returns it in the first word of a vector.
  Value roundedPair(Value wide) {
    Value four = vector::ShuffleOp::create(b, loc, wide, wide, ArrayRef<int64_t>{0, 1, 0, 1});
    auto narrow = VectorType::get({8}, b.getBF16Type()), mask = VectorType::get({4}, b.getI1Type());
    Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(narrow)));
    Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(mask, true));
    return call("llvm.x86.avx512bf16.mask.cvtneps2bf16.128", narrow, {four, zero, all});
  }
  /// Returns `source`, or, if it was rounded from f32, the result of one instruction that rounds.
  Value rounded(Value source) {
    Value wide = roundedFrom(source);
    if (!wide)
      return source;
    return once(source, [&] {
      auto half = [&](int64_t from) {
        auto which = llvm::to_vector(llvm::seq<int64_t>(from, from + dot.lanes));
        return vector::ShuffleOp::create(b, loc, wide, wide, which);
      };
      return call("llvm.x86.avx512bf16.cvtne2ps2bf16.512", source.getType(), {half(dot.lanes), half(0)});
    });
  }
};

} // namespace

Value x86Dot(vector::ContractionOp op, const PackedDot &dot, const Target &target,
             llvm::DenseMap<Value, Value> &cache) {
  return Expansion(op, dot, cache).expand(target);
}

} // namespace quern
