//===- ExpandDots.cpp - Products of packed elements as instructions -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An instruction multiplies the two or four elements of each 32-bit lane and adds them to the lane. The side that is one for all lanes is
// broadcast as a 32-bit word.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern {
namespace {

constexpr int64_t lanes = 16; // of 32 bits in a register

/// acc[lane] + Σ ext(one[k]) * ext(many[lane, k]).
struct PackedDot {
  Value one, many; ///< vectors of packed and of lanes x packed elements, before the extensions
  bool isOneSigned = true, isManySigned = true;
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
  if (op.getKind() != vector::CombiningKind::ADD ||
      op.getIndexingMapsArray() != SmallVector<AffineMap>{map({k}), map({lane, k}), map({lane})})
    return std::nullopt;
  PackedDot dot;
  dot.one = stripExtension(op.getLhs(), dot.isOneSigned);
  dot.many = stripExtension(op.getRhs(), dot.isManySigned);
  return dot;
}

class Expansion {
public:
  Expansion(vector::ContractionOp op, const PackedDot &dot) : op(op), dot(dot), b(op), loc(op.getLoc()) {}

  /// False if this level has no instruction for it.
  bool expand(VectorIsa isa, llvm::DenseMap<Value, Value> &words) {
    auto type = cast<VectorType>(dot.many.getType());
    Type element = type.getElementType(), sum = getElementTypeOrSelf(op.getResultType());
    if (type.getDimSize(0) != lanes || element != getElementTypeOrSelf(dot.one.getType()))
      return false;
    bool arePairs = element.isBF16() && sum.isF32() && type.getDimSize(1) == 2 && isa >= VectorIsa::Avx512Bf16;
    bool areQuads = element.isInteger(8) && sum.isInteger(32) && type.getDimSize(1) == 4 && isa >= VectorIsa::Avx512Vnni &&
                    dot.isOneSigned != dot.isManySigned;
    if (!arePairs && !areQuads)
      return false;
    Value first = broadcastWord(words), second = flat(words, dot.many);
    if (areQuads && dot.isOneSigned) // unsigned first
      std::swap(first, second);
    StringRef name = arePairs ? "llvm.x86.avx512bf16.dpbf16ps.512" : "llvm.x86.avx512.vpdpbusd.512";
    Value result = LLVM::CallIntrinsicOp::create(b, loc, op.getResultType(), b.getStringAttr(name), ValueRange{op.getAcc(), first, second})
                       .getResult(0);
    op->replaceAllUsesWith(ValueRange{result});
    return true;
  }

private:
  /// Made once for each value, behind its definition.
  template <typename F> Value once(llvm::DenseMap<Value, Value> &words, Value from, F make) {
    Value &known = words[from];
    if (!known) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(from);
      known = make();
    }
    return known;
  }
  Value broadcastWord(llvm::DenseMap<Value, Value> &words) {
    return once(words, dot.one, [&] {
      Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), dot.one);
      word = vector::ExtractOp::create(b, loc, word, int64_t(0));
      word = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), word);
      auto type = cast<VectorType>(dot.one.getType());
      return vector::BitCastOp::create(b, loc, VectorType::get({lanes * type.getNumElements()}, type.getElementType()), word).getResult();
    });
  }
  Value flat(llvm::DenseMap<Value, Value> &words, Value shaped) {
    if (auto cast = shaped.getDefiningOp<vector::ShapeCastOp>(); cast && cast.getSourceVectorType().getRank() == 1)
      return cast.getSource();
    return once(words, shaped, [&] {
      auto type = cast<VectorType>(shaped.getType());
      return vector::ShapeCastOp::create(b, loc, VectorType::get({type.getNumElements()}, type.getElementType()), shaped).getResult();
    });
  }

  vector::ContractionOp op;
  const PackedDot &dot;
  OpBuilder b;
  Location loc;
};

} // namespace

void expandDots(func::FuncOp function, VectorIsa isa) {
  SmallVector<vector::ContractionOp> ops;
  function.walk([&](vector::ContractionOp op) { ops.push_back(op); });
  llvm::DenseMap<Value, Value> words;
  for (vector::ContractionOp op : ops) {
    std::optional<PackedDot> dot = matchDot(op);
    if (!dot || !Expansion(op, *dot).expand(isa, words))
      continue;
    SmallVector<Value> factors{op.getLhs(), op.getRhs()};
    op.erase();
    while (!factors.empty()) { // extensions and shapes that nothing needs any more
      Operation *from = factors.pop_back_val().getDefiningOp();
      if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, vector::ShapeCastOp>(from) || !from->use_empty())
        continue;
      factors.push_back(from->getOperand(0));
      from->erase();
    }
  }
}

} // namespace quern
