//===- Dots.cpp - Computing one step along K ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Dots.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Contraction/PointValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

template <typename Conversion> bool isExtended(const Product::Factor &factor) {
  return factor.conversions.size() == 1 && isa<Conversion>(factor.conversions[0]);
}

Value splat(OpBuilder &b, Location loc, int64_t lanes, unsigned bits, const APInt &value) {
  auto type = VectorType::get({lanes}, b.getIntegerType(bits));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

/// Returns the mask, in words, that converts signed bytes to unsigned bytes that are 128 greater, and back.
Value signsOfBytes(OpBuilder &b, Location loc, int64_t words) {
  return splat(b, loc, words, 32, APInt::getSplat(32, APInt::getSignMask(8)));
}

/// Extracts one element of every lane.
Value elementOfLanes(OpBuilder &b, const Product &product, Value packed, int64_t lanes, int64_t which) {
  Location loc = product.loc();
  Type element = product.rhs.element();
  unsigned bits = element.getIntOrFloatBitWidth(), wide = bits * product.packed;
  Value words = vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(wide)), packed);
  if (which)
    words = arith::ShRUIOp::create(b, loc, words, splat(b, loc, lanes, wide, APInt(wide, which * bits)));
  words = arith::TruncIOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(bits)), words);
  return isa<IntegerType>(element)
             ? words
             : vector::BitCastOp::create(b, loc, VectorType::get({lanes}, element), words).getResult();
}

Value roundToBf16(OpBuilder &b, const Product &product, Value v) {
  return arith::TruncFOp::create(b, product.loc(), cast<VectorType>(v.getType()).clone(b.getBF16Type()), v);
}

/// Converts a vector of a factor's elements for the multiplication, and rounds it if the dot rounds elements one by
/// one.
Value factorOf(OpBuilder &b, const Product &product, Dot dot, const Product::Factor &factor, Value v) {
  v = convert(b, factor, v);
  if (dot != Dot::RoundedFma || !factor.element().isF32())
    return v;
  return arith::ExtFOp::create(b, product.loc(), v.getType(), roundToBf16(b, product, v));
}

/// Returns the even bytes of every lane, then the odd ones, as vectors of lanes x 2 words that are extended from 16
/// bits.
SmallVector<Value, 4> splitBytes(OpBuilder &b, const Product &product, const Product::Factor &factor, Value bytes,
                                 int64_t lanes) {
  Location loc = product.loc();
  auto halves = VectorType::get({lanes * 2}, b.getI16Type()), shaped = VectorType::get({lanes, 2}, b.getI16Type());
  auto wide = VectorType::get({lanes, 2}, b.getI32Type());
  Value v = vector::BitCastOp::create(b, loc, halves, bytes), eight = splat(b, loc, lanes * 2, 16, APInt(16, 8));
  Value even, odd;
  if (isExtended<arith::ExtSIOp>(factor)) {
    even = arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, v, eight), eight);
    odd = arith::ShRSIOp::create(b, loc, v, eight);
  } else {
    even = arith::AndIOp::create(b, loc, v, splat(b, loc, lanes * 2, 16, APInt(16, 0xff)));
    odd = arith::ShRUIOp::create(b, loc, v, eight);
  }
  SmallVector<Value, 4> parts;
  for (Value part : {even, odd})
    parts.push_back(arith::ExtSIOp::create(b, loc, wide, vector::ShapeCastOp::create(b, loc, shaped, part)));
  return parts;
}

/// Shapes the columns as patches, one operand for each register that `packed` fills.
SmallVector<Value, 4> patchesOfRhs(OpBuilder &b, const Product &product, Value packed, int64_t lanes) {
  const int64_t ofRegister = lanes * product.packed / 2;
  const int64_t count = cast<VectorType>(packed.getType()).getNumElements();
  SmallVector<Value, 4> parts;
  for (int64_t from = 0; from < count; from += ofRegister) {
    Value part = packed;
    if (count > ofRegister)
      part = vector::ShuffleOp::create(b, product.loc(), packed, packed,
                                       llvm::to_vector(llvm::seq(from, from + ofRegister)));
    auto type = VectorType::get({lanes / 4, 2, product.packed}, product.rhs.element());
    part = vector::ShapeCastOp::create(b, product.loc(), type, part);
    parts.push_back(isa<IntegerType>(product.rhs.element()) ? convert(b, product.rhs, part) : part);
  }
  return parts;
}

/// Returns the shifted bytes of lhs as lanes x 4, extended. They are signed if those of lhs are not, and unsigned
/// otherwise.
Value shiftedBytes(OpBuilder &b, const Product &product, Value words, int64_t lanes) {
  Location loc = product.loc();
  Value bytes = vector::BitCastOp::create(b, loc, VectorType::get({lanes * 4}, b.getI8Type()), words);
  bytes = vector::ShapeCastOp::create(b, loc, VectorType::get({lanes, 4}, b.getI8Type()), bytes);
  auto wide = VectorType::get({lanes, 4}, b.getI32Type());
  return isExtended<arith::ExtSIOp>(product.lhs) ? arith::ExtUIOp::create(b, loc, wide, bytes).getResult()
                                                 : arith::ExtSIOp::create(b, loc, wide, bytes).getResult();
}

/// sum[lane] += Σ over the packed elements, lhs[k] or lhs[lane, k] * rhs[lane, k].
Value contract(OpBuilder &b, const Product &product, Value lhs, Value rhs, Value sum) {
  bool isOne = cast<VectorType>(lhs.getType()).getRank() == 1;
  AffineExpr lane, k;
  bindDims(b.getContext(), lane, k);
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(2, 0, results, b.getContext()); };
  auto kinds = b.getArrayAttr({vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::parallel),
                               vector::IteratorTypeAttr::get(b.getContext(), vector::IteratorType::reduction)});
  return vector::ContractionOp::create(
      b, product.loc(), lhs, rhs, sum,
      b.getAffineMapArrayAttr({isOne ? map({k}) : map({lane, k}), map({lane, k}), map({lane})}), kinds);
}

} // namespace

Value contractions::keepTaken(OpBuilder &b, const Product &product, Value packed, int64_t lanes) {
  if (product.taken == product.packed)
    return packed;
  Location loc = product.loc();
  unsigned bits = product.rhs.element().getIntOrFloatBitWidth();
  Value words =
      vector::BitCastOp::create(b, loc, VectorType::get({lanes}, b.getIntegerType(bits * product.packed)), packed);
  APInt mask = APInt::getLowBitsSet(bits * product.packed, bits * product.taken);
  words = arith::AndIOp::create(b, loc, words, splat(b, loc, lanes, mask.getBitWidth(), mask));
  return vector::BitCastOp::create(b, loc, packed.getType(), words);
}

Value contractions::convert(OpBuilder &b, const Product::Factor &factor, Value v) {
  for (Operation *op : factor.conversions) {
    IRMapping map;
    map.map(op->getOperand(0), v);
    Operation *clone = b.clone(*op, map);
    clone->getResult(0).setType(cast<VectorType>(v.getType()).clone(op->getResult(0).getType()));
    v = clone->getResult(0);
  }
  return v;
}

Dot contractions::chooseDot(const Product &product, const ContractionStrategy &strategy) {
  const Product::Factor &lhs = product.lhs, &rhs = product.rhs;
  constexpr int64_t ofPatch = 8; // bytes along K
  const bool isPatchSized =
      strategy.patchBytes == ofPatch && !product.isStrided() && product.packed * bytesOf(rhs.element()) == ofPatch;
  if (isa<IntegerType>(product.sumType())) {
    const bool fitsPatches =
        isExtended<arith::ExtUIOp>(lhs) || (isExtended<arith::ExtSIOp>(lhs) && isExtended<arith::ExtSIOp>(rhs));
    if (isPatchSized && lhs.element().isInteger(8) && rhs.element().isInteger(8) && fitsPatches &&
        (isExtended<arith::ExtSIOp>(rhs) || isExtended<arith::ExtUIOp>(rhs)))
      return Dot::BytePatches;
    bool hasBytes = product.packed == 4 && lhs.element().isInteger(8) && rhs.element().isInteger(8);
    bool hasMixedSigns = (isExtended<arith::ExtUIOp>(lhs) && isExtended<arith::ExtSIOp>(rhs)) ||
                         (isExtended<arith::ExtSIOp>(lhs) && isExtended<arith::ExtUIOp>(rhs));
    bool bothExtended = (isExtended<arith::ExtUIOp>(lhs) || isExtended<arith::ExtSIOp>(lhs)) &&
                        (isExtended<arith::ExtUIOp>(rhs) || isExtended<arith::ExtSIOp>(rhs));
    if (!hasBytes || !bothExtended)
      return Dot::MulAdd;
    bool bothUnsigned = isExtended<arith::ExtUIOp>(lhs) && isExtended<arith::ExtUIOp>(rhs);
    if (hasMixedSigns ? strategy.hasQuadDots : strategy.hasSameSignDots)
      return Dot::Quads;
    const bool isShiftable = hasMixedSigns ? strategy.hasSameSignDots : !bothUnsigned && strategy.hasQuadDots;
    return isShiftable ? Dot::Shifted : Dot::Halves;
  }
  bool bothBf16 = lhs.element().isBF16() && rhs.element().isBF16() && isExtended<arith::ExtFOp>(lhs) &&
                  isExtended<arith::ExtFOp>(rhs) && product.sumType().isF32();
  if (isPatchSized && bothBf16 && product.mayReassociate && product.mayContract)
    return Dot::PairPatches;
  bool hasPairs = product.packed == 2 && bothBf16;
  if (strategy.hasPairDots && hasPairs && product.mayReassociate && product.mayContract)
    return Dot::Pairs;
  bool isFloat = lhs.element().isF32() && lhs.conversions.empty(),
       isShort = lhs.element().isBF16() && isExtended<arith::ExtFOp>(lhs);
  bool multipliesFloats =
      (isFloat || isShort) && rhs.element().isF32() && rhs.conversions.empty() && product.sumType().isF32();
  if (strategy.hasPairDots && multipliesFloats && product.mayRound && product.mayReassociate && product.mayContract)
    return product.packed == 2 ? Dot::Rounded : Dot::RoundedFma;
  return strategy.hasFma && product.mayContract ? Dot::Fma : Dot::MulAdd;
}

bool contractions::makesPairs(const Product &product, const ContractionStrategy &strategy) {
  auto fits = [&](const Product::Factor &factor) {
    const bool isRounded = product.mayRound && factor.element().isF32() && factor.conversions.empty();
    return isRounded || (factor.element().isBF16() && isExtended<arith::ExtFOp>(factor));
  };
  return strategy.hasPairDots && product.packed == 1 && fits(product.lhs) && fits(product.rhs) &&
         product.sumType().isF32() && product.mayReassociate && product.mayContract;
}

/// Operates on words, which needs fewer instructions than a shuffle of halves.
Value contractions::makePairs(OpBuilder &b, const Product &product, Value first, Value second) {
  Location loc = product.loc();
  const int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  auto halves = VectorType::get({lanes}, b.getI16Type()), words = VectorType::get({lanes}, b.getI32Type());
  auto wordsOf = [&](Value v) -> Value {
    if (!getElementTypeOrSelf(v.getType()).isBF16())
      v = roundToBf16(b, product, v);
    return arith::ExtUIOp::create(b, loc, words, vector::BitCastOp::create(b, loc, halves, v));
  };
  Value high = arith::ShLIOp::create(b, loc, wordsOf(second), splat(b, loc, lanes, 32, APInt(32, 16)));
  Value pairs = arith::OrIOp::create(b, loc, wordsOf(first), high);
  return vector::BitCastOp::create(b, loc, VectorType::get({2 * lanes}, b.getBF16Type()), pairs);
}

std::optional<Dot> contractions::chooseMatrixDot(const Product &product, Dot byVectors) {
  bool hasBytes = byVectors == Dot::Quads || byVectors == Dot::Shifted || byVectors == Dot::Halves;
  bool isStep = product.reduced.empty() || (product.reduced.size() == 1 && product.taken == product.packed);
  if (!(hasBytes || byVectors == Dot::Pairs) || !isStep ||
      (!product.reduced.empty() && product.reduced[0].lhs != product.packed))
    return std::nullopt;
  return hasBytes ? Dot::ByteMatrices : Dot::PairMatrices;
}

matrices::Elements contractions::elementsOf(const Product &product) {
  using matrices::Elements;
  if (product.lhs.element().isBF16())
    return Elements::Bf16Pairs;
  if (isExtended<arith::ExtSIOp>(product.lhs))
    return isExtended<arith::ExtSIOp>(product.rhs) ? Elements::SignedSigned : Elements::SignedUnsigned;
  return isExtended<arith::ExtSIOp>(product.rhs) ? Elements::UnsignedSigned : Elements::UnsignedUnsigned;
}

const char *contractions::nameOf(Dot dot) {
  switch (dot) {
  case Dot::MulAdd:
    return "mul and add";
  case Dot::Fma:
    return "fma";
  case Dot::RoundedFma:
    return "fma of factors rounded to bf16";
  case Dot::Pairs:
    return "dots of bf16 pairs";
  case Dot::Rounded:
    return "dots of pairs rounded to bf16";
  case Dot::Quads:
    return "dots of four bytes";
  case Dot::Shifted:
    return "dots of four bytes, shifted";
  case Dot::PairPatches:
    return "patches of four bf16";
  case Dot::BytePatches:
    return "patches of eight bytes";
  case Dot::Halves:
    return "dots of bytes in 16 bits";
  case Dot::PairMatrices:
    return "matrices of bf16 pairs";
  case Dot::ByteMatrices:
    return "matrices of bytes";
  }
  return "";
}

int64_t contractions::registersOfRhs(const Product &product, Dot dot) {
  return dot == Dot::Halves || isPatch(dot) ? 2 : isPackedDot(dot) ? 1 : product.taken;
}

SmallVector<Value, 4> contractions::prepareRhs(OpBuilder &b, const Product &product, Dot dot, Value loaded,
                                               int64_t lanes) {
  if (isPackedDot(dot)) {
    Value packed = keepTaken(b, product, loaded, cast<VectorType>(loaded.getType()).getNumElements() / product.packed);
    if (dot == Dot::Halves)
      return splitBytes(b, product, product.rhs, packed, lanes);
    if (isPatch(dot))
      return patchesOfRhs(b, product, packed, lanes);
    if (dot == Dot::Rounded)
      packed = roundToBf16(b, product, packed);
    auto type = VectorType::get({lanes, product.packed}, getElementTypeOrSelf(packed.getType()));
    Value shaped = vector::ShapeCastOp::create(b, product.loc(), type, packed);
    return {dot == Dot::Quads || dot == Dot::Shifted ? convert(b, product.rhs, shaped) : shaped};
  }
  SmallVector<Value, 4> elements;
  for (int64_t i = 0; i < product.taken; ++i)
    elements.push_back(factorOf(b, product, dot, product.rhs,
                                product.packed == 1 ? loaded : elementOfLanes(b, product, loaded, lanes, i)));
  return elements;
}

SmallVector<Value, 4> contractions::prepareLhs(OpBuilder &b, const Product &product, Dot dot, ArrayRef<Value> loaded,
                                               int64_t lanes) {
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
    if (isPatch(dot))
      return {packed};
    if (dot == Dot::Halves || dot == Dot::Shifted) {
      Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), packed);
      word = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()),
                                         vector::ExtractOp::create(b, loc, word, int64_t(0)));
      if (dot == Dot::Halves)
        return splitBytes(b, product, product.lhs, word, lanes);
      Value shifted = arith::XOrIOp::create(b, loc, word, signsOfBytes(b, loc, lanes));
      return {shiftedBytes(b, product, shifted, lanes)};
    }
    if (dot == Dot::Rounded && product.lhs.element().isF32())
      return {roundToBf16(b, product, packed)};
    return {dot == Dot::Quads ? convert(b, product.lhs, packed) : packed};
  }
  SmallVector<Value, 4> elements;
  for (Value element : loaded)
    elements.push_back(
        factorOf(b, product, dot, product.lhs,
                 vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element.getType()), element)));
  return elements;
}

Value contractions::prepareLhsOfSteps(OpBuilder &b, const Product &product, Dot dot, Value loaded) {
  if (isPatch(dot))
    return loaded;
  if (!isPackedDot(dot))
    return factorOf(b, product, dot, product.lhs, loaded);
  Location loc = product.loc();
  if (dot == Dot::Rounded && product.lhs.element().isF32())
    loaded = roundToBf16(b, product, loaded);
  auto type = cast<VectorType>(loaded.getType());
  const int64_t words = type.getNumElements() / product.packed;
  Value v = vector::BitCastOp::create(b, loc, VectorType::get({words}, b.getI32Type()), loaded);
  return dot == Dot::Shifted ? arith::XOrIOp::create(b, loc, v, signsOfBytes(b, loc, words)).getResult() : v;
}

SmallVector<Value, 4> contractions::lhsOfStep(OpBuilder &b, const Product &product, Dot dot, Value prepared,
                                              int64_t step, int64_t lanes) {
  Location loc = product.loc();
  auto all = [&](int64_t element, int64_t count) -> Value {
    Value one = vector::ExtractOp::create(b, loc, prepared, element);
    return vector::BroadcastOp::create(b, loc, VectorType::get({count}, one.getType()), one);
  };
  if (!isPackedDot(dot))
    return llvm::map_to_vector<4>(llvm::seq<int64_t>(step * product.packed, (step + 1) * product.packed),
                                  [&](int64_t element) { return all(element, lanes); });
  if (dot == Dot::Shifted)
    return {shiftedBytes(b, product, all(step, lanes), lanes)};
  const bool hasPairs = dot == Dot::Rounded || dot == Dot::Pairs; // rounded here or in a copy
  Type element = hasPairs ? b.getBF16Type() : product.lhs.element();
  Value packed = vector::BitCastOp::create(b, loc, VectorType::get({product.packed}, element), all(step, 1));
  return {dot == Dot::Quads ? convert(b, product.lhs, packed) : packed};
}

SmallVector<Value, 4> contractions::prepareShift(OpBuilder &b, const Product &product, int64_t lanes) {
  return {shiftedBytes(b, product, signsOfBytes(b, product.loc(), lanes), lanes)};
}

Value contractions::accumulate(OpBuilder &b, const Product &product, Dot dot, ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                               Value sum) {
  const bool isFma = dot == Dot::Fma || dot == Dot::RoundedFma;
  for (auto [x, y] : llvm::zip_equal(lhs, rhs))
    sum = isPackedDot(dot) ? contract(b, product, x, y, sum) : multiplyAdd(b, product.loc(), isFma, x, y, sum);
  return sum;
}
