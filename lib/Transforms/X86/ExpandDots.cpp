//===- ExpandDots.cpp - Products of packed elements as instructions -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An instruction multiplies the two or four elements of each 32-bit lane and adds them to the lane. A side that is
// one for all lanes is broadcast as a 32-bit word. Rounding f32 to bf16 here is the instruction's too: who asks for
// it does not mind denormals.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace quern {
namespace {

/// acc[lane] + Σ first[k] * second[lane, k], or of first[lane, k].
struct PackedDot {
  Value first, second; ///< before extensions and roundings
  bool isFirstSigned = true, isSecondSigned = true;
  bool isFirstOne = true; ///< the same for all lanes
  int64_t lanes = 0, packed = 0;
  Type element() const { return getElementTypeOrSelf(second.getType()); }
};

/// The elements that an integer is extended from.
Value stripExtension(Value v, bool &isSigned) {
  Operation *op = v.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op))
    return v;
  isSigned = isa<arith::ExtSIOp>(op);
  return op->getOperand(0);
}

std::optional<PackedDot> matchDot(vector::ContractionOp op) {
  AffineExpr lane, k;
  bindDims(op.getContext(), lane, k);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(2, 0, results, op.getContext()); };
  auto maps = op.getIndexingMapsArray();
  PackedDot dot;
  dot.isFirstOne = maps[0] == map({k});
  if (op.getKind() != vector::CombiningKind::ADD || !(dot.isFirstOne || maps[0] == map({lane, k})) ||
      maps[1] != map({lane, k}) || maps[2] != map({lane}))
    return std::nullopt;
  dot.first = stripExtension(op.getLhs(), dot.isFirstSigned);
  dot.second = stripExtension(op.getRhs(), dot.isSecondSigned);
  auto type = cast<VectorType>(dot.second.getType());
  dot.lanes = type.getDimSize(0);
  dot.packed = type.getDimSize(1);
  if (getElementTypeOrSelf(dot.first.getType()) != dot.element())
    return std::nullopt;
  return dot;
}

/// Products of pairs of 16-bit integers, added, for a register.
struct HalfDot {
  int64_t lanes;
  VectorIsa least;
  StringLiteral name;
};
constexpr HalfDot halfDots[] = {{16, VectorIsa::Avx512, "llvm.x86.avx512.pmaddw.d.512"},
                                {8, VectorIsa::Avx2, "llvm.x86.avx2.pmadd.wd"},
                                {4, VectorIsa::Sse42, "llvm.x86.sse2.pmadd.wd"}};

class Expansion {
public:
  Expansion(vector::ContractionOp op, const PackedDot &dot, llvm::DenseMap<Value, Value> &made)
      : op(op), dot(dot), made(made), b(op), loc(op.getLoc()) {}

  /// Null if this level has no instruction for it.
  Value expand(VectorIsa isa) {
    Type sum = getElementTypeOrSelf(op.getResultType());
    if (dot.element().isBF16() && sum.isF32() && dot.packed == 2 && dot.lanes == 16 && dot.isFirstOne &&
        isa >= VectorIsa::Avx512Bf16)
      return call("llvm.x86.avx512bf16.dpbf16ps.512", op.getResultType(),
                  {op.getAcc(), broadcastWord(), flat(dot.second)});
    if (dot.element().isInteger(8) && sum.isInteger(32) && dot.packed == 4 && dot.lanes == 16 &&
        dot.isFirstSigned != dot.isSecondSigned && isa >= VectorIsa::Avx512Vnni) {
      Value first = dot.isFirstOne ? broadcastWord() : flat(dot.first), second = flat(dot.second);
      if (dot.isFirstSigned) // unsigned first
        std::swap(first, second);
      return call("llvm.x86.avx512.vpdpbusd.512", op.getResultType(), {op.getAcc(), first, second});
    }
    const auto *half =
        llvm::find_if(halfDots, [&](const HalfDot &own) { return own.lanes == dot.lanes && isa >= own.least; });
    if (dot.element().isInteger(16) && sum.isInteger(32) && dot.packed == 2 && !dot.isFirstOne && dot.isFirstSigned &&
        dot.isSecondSigned && half != std::end(halfDots))
      return arith::AddIOp::create(b, loc, op.getAcc(),
                                   call(half->name, op.getResultType(), {flat(dot.first), flat(dot.second)}));
    return {};
  }

private:
  Value call(StringRef name, Type type, ArrayRef<Value> operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
  }
  /// Made once for each value, behind its definition.
  Value once(Value from, llvm::function_ref<Value()> make) {
    if (Value known = made.lookup(from))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(from);
    return made[from] = make();
  }
  /// A pair or four that is one for all lanes, as a register of them.
  Value broadcastWord() {
    return once(dot.first, [&] {
      Value word =
          vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, words(), packedWord()), int64_t(0));
      word = vector::BroadcastOp::create(b, loc, VectorType::get({dot.lanes}, b.getI32Type()), word);
      return vector::BitCastOp::create(b, loc, VectorType::get({dot.lanes * dot.packed}, dot.element()), word)
          .getResult();
    });
  }
  /// The first word of it holds the elements.
  Value packedWord() {
    auto rounding = dot.first.getDefiningOp<arith::TruncFOp>();
    if (!rounding || !getElementTypeOrSelf(rounding.getIn().getType()).isF32())
      return dot.first;
    Value four = vector::ShuffleOp::create(b, loc, rounding.getIn(), rounding.getIn(), ArrayRef<int64_t>{0, 1, 0, 1});
    auto narrow = VectorType::get({8}, b.getBF16Type()), mask = VectorType::get({4}, b.getI1Type());
    Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(narrow)));
    Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(mask, true));
    return call("llvm.x86.avx512bf16.mask.cvtneps2bf16.128", narrow, {four, zero, all});
  }
  VectorType words() {
    auto rounding = dot.first.getDefiningOp<arith::TruncFOp>();
    bool isRounded = rounding && getElementTypeOrSelf(rounding.getIn().getType()).isF32();
    return VectorType::get({isRounded ? 4 : 1}, b.getI32Type());
  }
  /// lanes x packed elements as one register.
  Value flat(Value shaped) {
    auto cast = shaped.getDefiningOp<vector::ShapeCastOp>();
    Value source = cast && cast.getSourceVectorType().getRank() == 1 ? cast.getSource() : Value();
    if (!source)
      return once(shaped, [&] {
        return vector::ShapeCastOp::create(b, loc, VectorType::get({dot.lanes * dot.packed}, dot.element()), shaped)
            .getResult();
      });
    auto rounding = source.getDefiningOp<arith::TruncFOp>();
    if (!rounding || !getElementTypeOrSelf(rounding.getIn().getType()).isF32())
      return source;
    return once(source, [&] {
      auto half = [&](int64_t from) {
        auto which = llvm::to_vector(llvm::seq<int64_t>(from, from + dot.lanes));
        return vector::ShuffleOp::create(b, loc, rounding.getIn(), rounding.getIn(), which);
      };
      return call("llvm.x86.avx512bf16.cvtne2ps2bf16.512", source.getType(), {half(dot.lanes), half(0)});
    });
  }

  vector::ContractionOp op;
  const PackedDot &dot;
  llvm::DenseMap<Value, Value> &made;
  OpBuilder b;
  Location loc;
};

} // namespace

void expandDots(func::FuncOp function, VectorIsa isa) {
  SmallVector<vector::ContractionOp> ops;
  function.walk([&](vector::ContractionOp op) { ops.push_back(op); });
  llvm::DenseMap<Value, Value> made;
  llvm::SetVector<Operation *> unused;
  auto leave = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, vector::ShapeCastOp>(
              operand.getDefiningOp()))
        unused.insert(operand.getDefiningOp());
    op->erase();
  };
  for (vector::ContractionOp op : ops) {
    std::optional<PackedDot> dot = matchDot(op);
    Value result = dot ? Expansion(op, *dot, made).expand(isa) : Value();
    if (!result)
      continue;
    op->replaceAllUsesWith(ValueRange{result});
    leave(op);
  }
  while (!unused.empty()) // extensions, roundings and shapes
    if (Operation *op = unused.pop_back_val(); op->use_empty())
      leave(op);
}

} // namespace quern
