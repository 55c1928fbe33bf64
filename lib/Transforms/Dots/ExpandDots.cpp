//===- ExpandDots.cpp - Products of packed elements as instructions ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One instruction multiplies the two or four elements of each 32-bit lane and adds the products to the lane. An operand
// that is the same for all lanes is broadcast as a 32-bit word. On x86, operands that were rounded from f32 are rounded
// to bf16 by an instruction that flushes denormals, as the product's instruction does anyway.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Dots/PackedDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace quern {
namespace {

/// Returns the elements that an integer is extended from, or `v`.
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

std::optional<PatchDot> matchPatch(vector::ContractionOp op) {
  AffineExpr patch, row, column, k;
  bindDims(op.getContext(), patch, row, column, k);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(4, 0, results, op.getContext()); };
  const SmallVector<AffineMap> maps{map({row, k}), map({patch, column, k}), map({patch, row, column})};
  if (op.getKind() != vector::CombiningKind::ADD || op.getIndexingMapsArray() != maps)
    return std::nullopt;
  PatchDot dot;
  dot.first = stripExtension(op.getLhs(), dot.isFirstSigned);
  dot.second = stripExtension(op.getRhs(), dot.isSecondSigned);
  auto type = cast<VectorType>(dot.second.getType());
  dot.patches = type.getDimSize(0);
  dot.packed = type.getDimSize(2);
  if (type.getDimSize(1) != 2 || cast<VectorType>(dot.first.getType()).getDimSize(0) != 2 ||
      getElementTypeOrSelf(dot.first.getType()) != dot.element())
    return std::nullopt;
  return dot;
}

/// Emits one step along K after another, without dot instructions.
Value multiplyPatches(OpBuilder &b, Location loc, const PatchDot &dot, Value acc, Value first, Value second) {
  auto sums = cast<VectorType>(acc.getType());
  auto elements = [&](Value from, bool isSigned, llvm::function_ref<int64_t(int64_t, int64_t, int64_t)> at) -> Value {
    SmallVector<int64_t> which;
    for (int64_t lane = 0; lane < sums.getNumElements(); ++lane)
      which.push_back(at(lane / 4, lane / 2 % 2, lane % 2));
    Value v = vector::ShuffleOp::create(b, loc, from, from, which);
    if (isa<FloatType>(sums.getElementType()))
      return arith::ExtFOp::create(b, loc, sums, v);
    return isSigned ? arith::ExtSIOp::create(b, loc, sums, v).getResult()
                    : arith::ExtUIOp::create(b, loc, sums, v).getResult();
  };
  for (int64_t k = 0; k < dot.packed; ++k) {
    Value x = elements(first, dot.isFirstSigned, [&](int64_t, int64_t row, int64_t) { return row * dot.packed + k; });
    Value y = elements(second, dot.isSecondSigned,
                       [&](int64_t patch, int64_t, int64_t column) { return (patch * 2 + column) * dot.packed + k; });
    if (isa<FloatType>(sums.getElementType()))
      acc = arith::AddFOp::create(b, loc, acc, arith::MulFOp::create(b, loc, x, y));
    else
      acc = arith::AddIOp::create(b, loc, acc, arith::MulIOp::create(b, loc, x, y));
  }
  return acc;
}

Value flattened(OpBuilder &b, Location loc, Value v) {
  auto type = cast<VectorType>(v.getType());
  auto shape = v.getDefiningOp<vector::ShapeCastOp>();
  if (shape && shape.getSourceVectorType().getRank() == 1)
    return shape.getSource();
  return vector::ShapeCastOp::create(b, loc, VectorType::get({type.getNumElements()}, type.getElementType()), v);
}

/// Emits the level's instructions, or separate operations if it has none. Shape casts of the result are replaced at
/// once.
Value expandPatch(vector::ContractionOp op, const PatchDot &dot, const Target &target) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value acc = flattened(b, loc, op.getAcc()), first = flattened(b, loc, dot.first),
        second = flattened(b, loc, dot.second);
  Value result = target.isAArch64() ? aarch64Patch(b, loc, dot, target, acc, first, second) : Value();
  if (!result)
    result = multiplyPatches(b, loc, dot, acc, first, second);
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa_and_nonnull<vector::ShapeCastOp>(user) && user->getResult(0).getType() == result.getType()) {
      user->getResult(0).replaceAllUsesWith(result);
      user->erase();
    }
  return op->use_empty() ? result : vector::ShapeCastOp::create(b, loc, op.getResultType(), result).getResult();
}

} // namespace

Value DotBuilder::call(StringRef name, Type type, ArrayRef<Value> operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
}

Value DotBuilder::once(Value from, llvm::function_ref<Value()> make) {
  if (Value known = cache.lookup(from))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(from);
  return cache[from] = make();
}

Value DotBuilder::broadcastFirst(Value word, VectorType words) {
  word = vector::ExtractOp::create(b, loc, vector::BitCastOp::create(b, loc, words, word), int64_t(0));
  return broadcastWord(word);
}

Value DotBuilder::broadcastWord(Value word) {
  word = vector::BroadcastOp::create(b, loc, VectorType::get({dot.lanes}, word.getType()), word);
  return vector::BitCastOp::create(b, loc, VectorType::get({dot.lanes * dot.packed}, dot.element()), word);
}

Value DotBuilder::flat(Value shaped) {
  auto cast = shaped.getDefiningOp<vector::ShapeCastOp>();
  if (cast && cast.getSourceVectorType().getRank() == 1)
    return cast.getSource();
  return once(shaped, [&] {
    return vector::ShapeCastOp::create(b, loc, VectorType::get({dot.lanes * dot.packed}, dot.element()), shaped)
        .getResult();
  });
}

Value DotBuilder::roundedFrom(Value v) {
  auto rounding = v.getDefiningOp<arith::TruncFOp>();
  return rounding && getElementTypeOrSelf(rounding.getIn().getType()).isF32() ? rounding.getIn() : Value();
}

void expandDots(func::FuncOp function, const Target &target) {
  SmallVector<vector::ContractionOp> ops;
  function.walk([&](vector::ContractionOp op) { ops.push_back(op); });
  llvm::DenseMap<Value, Value> cache;
  auto *instruction = target.isAArch64() ? aarch64Dot : x86Dot;
  llvm::SetVector<Operation *> unused;
  auto leave = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncFOp, vector::BitCastOp, vector::BroadcastOp,
                          vector::ShapeCastOp>(operand.getDefiningOp()))
        unused.insert(operand.getDefiningOp());
    op->erase();
  };
  for (vector::ContractionOp op : ops) {
    if (const std::optional<PatchDot> patch = matchPatch(op)) {
      if (Value result = expandPatch(op, *patch, target); !op->use_empty())
        op->replaceAllUsesWith(ValueRange{result});
      leave(op);
      continue;
    }
    std::optional<PackedDot> dot = matchDot(op);
    Value result = dot ? instruction(op, *dot, target, cache) : Value();
    if (!result)
      continue;
    op->replaceAllUsesWith(ValueRange{result});
    leave(op);
  }
  while (!unused.empty()) // extensions, roundings and shape casts
    if (Operation *op = unused.pop_back_val(); op->use_empty())
      leave(op);
}

} // namespace quern
