//===- ContractionDots.cpp - How one step along K is computed -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Recipes/ContractionDots.h"

#include "Recipes/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace quern;
using namespace quern::contractions;

namespace {

template <typename Conversion> bool isExtended(const Product::Factor &factor) {
  return factor.conversions.size() == 1 && isa<Conversion>(factor.conversions[0]);
}

/// The conversions of a factor on a vector of its elements.
Value convert(OpBuilder &b, const Product::Factor &factor, Value v) {
  for (Operation *op : factor.conversions) {
    IRMapping map;
    map.map(op->getOperand(0), v);
    Operation *clone = b.clone(*op, map);
    clone->getResult(0).setType(cast<VectorType>(v.getType()).clone(op->getResult(0).getType()));
    v = clone->getResult(0);
  }
  return v;
}

Value splat(OpBuilder &b, Location loc, int64_t lanes, unsigned bits, const APInt &value) {
  auto type = VectorType::get({lanes}, b.getIntegerType(bits));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

/// The elements of a lane that are multiplied, the others zero.
Value keepTaken(OpBuilder &b, const Product &product, Value packed, int64_t lanes) {
  if (product.taken == product.packed)
    return packed;
  Location loc = product.loc();
  unsigned bits = product.rhs.element().getIntOrFloatBitWidth();
  Value words = vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(bits * product.packed)), packed);
  APInt mask = APInt::getLowBitsSet(bits * product.packed, bits * product.taken);
  words = arith::AndIOp::create(b, loc, words, splat(b, loc, lanes, mask.getBitWidth(), mask));
  return vector::BitCastOp::create(b, loc, packed.getType(), words);
}

/// One of the elements of every lane.
Value elementOfLanes(OpBuilder &b, const Product &product, Value packed, int64_t lanes, int64_t which) {
  Location loc = product.loc();
  Type element = product.rhs.element();
  unsigned bits = element.getIntOrFloatBitWidth(), wide = bits * product.packed;
  Value words = vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(wide)), packed);
  if (which)
    words = arith::ShRUIOp::create(b, loc, words, splat(b, loc, lanes, wide, APInt(wide, which * bits)));
  words = arith::TruncIOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(bits)), words);
  return isa<IntegerType>(element) ? words : vector::BitCastOp::create(b, loc, VectorType::get({lanes}, element), words).getResult();
}

/// sum[lane] += Σ over what is packed, lhs[k] * rhs[lane, k].
Value contract(OpBuilder &b, const Product &product, Value lhs, Value rhs, Value sum) {
  AffineExpr lane, k;
  bindDims(b.getContext(), lane, k);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(2, 0, results, b.getContext()); };
  auto kinds = b.getArrayAttr({vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::parallel),
                               vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::reduction)});
  return vector::ContractionOp::create(b, product.loc(), lhs, rhs, sum, b.getAffineMapArrayAttr({map({k}), map({lane, k}), map({lane})}),
                                       kinds);
}

} // namespace

Dot contractions::chooseDot(const Product &product, const ContractionStrategy &strategy) {
  const Product::Factor &lhs = product.lhs, &rhs = product.rhs;
  if (isa<IntegerType>(product.sumType())) {
    bool areBytes = product.packed == 4 && lhs.element().isInteger(8) && rhs.element().isInteger(8);
    bool areMixed = (isExtended<arith::ExtUIOp>(lhs) && isExtended<arith::ExtSIOp>(rhs)) ||
                    (isExtended<arith::ExtSIOp>(lhs) && isExtended<arith::ExtUIOp>(rhs));
    return strategy.hasQuadDots && areBytes && areMixed ? Dot::Quads : Dot::MulAdd;
  }
  bool arePairs = product.packed == 2 && lhs.element().isBF16() && rhs.element().isBF16() && isExtended<arith::ExtFOp>(lhs) &&
                  isExtended<arith::ExtFOp>(rhs) && product.sumType().isF32();
  if (strategy.hasPairDots && arePairs && product.mayReassociate && product.mayContract)
    return Dot::Pairs;
  return strategy.hasFma && product.mayContract ? Dot::Fma : Dot::MulAdd;
}

const char *contractions::nameOf(Dot dot) {
  switch (dot) {
  case Dot::MulAdd:
    return "mul and add";
  case Dot::Fma:
    return "fma";
  case Dot::Pairs:
    return "dots of bf16 pairs";
  case Dot::Quads:
    return "dots of four bytes";
  }
  return "";
}

int64_t contractions::registersOfRhs(const Product &product, Dot dot) { return isPackedDot(dot) ? 1 : product.taken; }

SmallVector<Value, 4> contractions::prepareRhs(OpBuilder &b, const Product &product, Dot dot, Value loaded, int64_t lanes) {
  if (isPackedDot(dot)) {
    auto type = VectorType::get({lanes, product.packed}, product.rhs.element());
    Value shaped = vector::ShapeCastOp::create(b, product.loc(), type, keepTaken(b, product, loaded, lanes));
    return {dot == Dot::Quads ? convert(b, product.rhs, shaped) : shaped};
  }
  SmallVector<Value, 4> elements;
  for (int64_t i = 0; i < product.taken; ++i)
    elements.push_back(convert(b, product.rhs, product.packed == 1 ? loaded : elementOfLanes(b, product, loaded, lanes, i)));
  return elements;
}

SmallVector<Value, 4> contractions::prepareLhs(OpBuilder &b, const Product &product, Dot dot, ArrayRef<Value> loaded, int64_t lanes) {
  Location loc = product.loc();
  if (isPackedDot(dot)) {
    auto type = VectorType::get({product.packed}, product.lhs.element());
    Value packed = loaded[0];
    if (product.taken < product.packed) {
      SmallVector<Value> elements(loaded);
      Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(product.lhs.element())));
      elements.resize(product.packed, zero);
      packed = vector::FromElementsOp::create(b, loc, type, elements);
    }
    return {dot == Dot::Quads ? convert(b, product.lhs, packed) : packed};
  }
  SmallVector<Value, 4> elements;
  for (Value element : loaded)
    elements.push_back(
        convert(b, product.lhs, vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, product.lhs.element()), element)));
  return elements;
}

Value contractions::accumulate(OpBuilder &b, const Product &product, Dot dot, ArrayRef<Value> lhs, ArrayRef<Value> rhs, Value sum) {
  Location loc = product.loc();
  if (isPackedDot(dot))
    return contract(b, product, lhs[0], rhs[0], sum);
  for (auto [x, y] : llvm::zip_equal(lhs, rhs)) {
    if (dot == Dot::Fma)
      sum = math::FmaOp::create(b, loc, x, y, sum);
    else if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
      sum = arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, x, y));
    else
      sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x, y));
  }
  return sum;
}
