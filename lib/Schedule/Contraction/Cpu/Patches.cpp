//===- Patches.cpp - Sums of two rows by two columns ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In every 128 bits of a register, one instruction adds the products of two rows of lhs and two columns of rhs to four
// sums. While the sums of two rows, which take two vectors, are accumulated, they are in that order: vectors of [row 0,
// columns 0 and 1; row 1, columns 0 and 1; row 0, columns 2 and 3; …].
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Dots.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

constexpr int64_t side = 2;       ///< rows and columns of a patch
constexpr unsigned pairBits = 64; ///< two sums, or the packed elements

Value asPairs(OpBuilder &b, Location loc, Value v) {
  auto type = cast<VectorType>(v.getType());
  const int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  return vector::BitCastOp::create(b, loc, VectorType::get({bits / pairBits}, b.getI64Type()), v);
}

/// Rearranges two vectors of 64-bit pairs: pair i of their concatenation becomes pair elementAt(i).
RowPair shuffled(OpBuilder &b, Location loc, RowPair from, function_ref<int64_t(int64_t)> elementAt) {
  Type type = from.first.getType();
  from = {asPairs(b, loc, from.first), asPairs(b, loc, from.second)};
  const int64_t count = cast<VectorType>(from.first.getType()).getNumElements();
  auto make = [&](int64_t begin) -> Value {
    auto elements = llvm::map_to_vector(llvm::seq(begin, begin + count), elementAt);
    Value v = vector::ShuffleOp::create(b, loc, from.first, from.second, elements);
    return vector::BitCastOp::create(b, loc, type, v);
  };
  Value first = make(0);
  return {first, make(count)};
}

int64_t pairsOf(Value v) {
  auto type = cast<VectorType>(v.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / pairBits;
}

} // namespace

RowPair contractions::patchesOf(OpBuilder &b, Location loc, RowPair rows) {
  const int64_t count = pairsOf(rows.first);
  return shuffled(b, loc, rows, [&](int64_t i) { return i / side + i % side * count; });
}

RowPair contractions::rowsOf(OpBuilder &b, Location loc, RowPair patches) {
  const int64_t count = pairsOf(patches.first);
  return shuffled(b, loc, patches, [&](int64_t i) { return i % count * side + i / count; });
}

Value contractions::patchOfLhs(OpBuilder &b, const Product &product, Value first, Value second, int64_t step) {
  Location loc = product.loc();
  first = asPairs(b, loc, first);
  second = asPairs(b, loc, second);
  const int64_t count = cast<VectorType>(first.getType()).getNumElements();
  Value pair = vector::ShuffleOp::create(b, loc, first, second, ArrayRef<int64_t>{step, count + step});
  Type element = product.lhs.element();
  pair = vector::BitCastOp::create(b, loc, VectorType::get({side * product.packed}, element), pair);
  pair = vector::ShapeCastOp::create(b, loc, VectorType::get({side, product.packed}, element), pair);
  return isa<IntegerType>(element) ? convert(b, product.lhs, pair) : pair;
}

Value contractions::accumulatePatches(OpBuilder &b, const Product &product, Value lhs, Value rhs, Value patches) {
  Location loc = product.loc();
  auto flat = cast<VectorType>(patches.getType());
  auto shaped = VectorType::get({flat.getNumElements() / (side * side), side, side}, flat.getElementType());
  AffineExpr patch, row, column, k;
  bindDims(b.getContext(), patch, row, column, k);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(4, 0, results, b.getContext()); };
  auto kind = [&](vector::IteratorType type) -> Attribute {
    return vector::IteratorTypeAttr::get(b.getContext(), type);
  };
  const Attribute parallel = kind(vector::IteratorType::parallel), reduction = kind(vector::IteratorType::reduction);
  Value sums = vector::ShapeCastOp::create(b, loc, shaped, patches);
  sums = vector::ContractionOp::create(
      b, loc, lhs, rhs, sums,
      b.getAffineMapArrayAttr({map({row, k}), map({patch, column, k}), map({patch, row, column})}),
      b.getArrayAttr({parallel, parallel, parallel, reduction}));
  return vector::ShapeCastOp::create(b, loc, flat, sums);
}
