//===- Builder.cpp - Addresses and loops of a contraction ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Builder.h"

#include "Schedule/Build/Transpose.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Returns `offset` plus the terms. The constant is added last, so that adjacent addresses share the sum before it.
Value ContractionBuilder::linear(int64_t offset, ArrayRef<Term> terms) {
  Value sum;
  for (auto [value, stride] : terms) {
    std::optional<int64_t> known = getConstantIntValue(value);
    bool isNumber = known && (!*known || !stride.isOpen());
    if (isNumber && *known)
      offset += *known * stride.known();
    if (isNumber || stride == 0)
      continue;
    Value scaled = stride == 1 ? value : shared<arith::MulIOp>(value, index(stride));
    sum = sum ? shared<arith::AddIOp>(sum, scaled) : scaled;
  }
  if (!sum)
    return index(offset);
  return offset ? shared<arith::AddIOp>(sum, index(offset)) : sum;
}

Value ContractionBuilder::plus(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return create<arith::AddFOp>(x, y);
  return create<arith::AddIOp>(x, y);
}

void ContractionBuilder::forCount(int64_t begin, int64_t end, function_ref<void(Value)> body) {
  if (end - begin == 1)
    body(index(begin));
  else if (end > begin)
    forRange(begin, end, body);
}

void ContractionBuilder::forHeights(ArrayRef<int64_t> heights, IndexRange rows,
                                    function_ref<void(Value, int64_t)> body) {
  for (int64_t height : heights) {
    Value to = height > 1 ? endOfWhole(rows.begin, rows.end, height) : rows.end;
    forRange(rows.begin, to, [&](Value row) { body(row, height); }, height);
    rows.begin = to;
  }
}

Value ContractionBuilder::scratchBuffer(int64_t bytes, int64_t elements, Type element) {
  return create<memref::ViewOp>(MemRefType::get({elements}, element), kernel.scratch, index(bytes), ValueRange());
}

Value ContractionBuilder::loadLanes(Value memref, Value at, int64_t lanes, Value mask, int64_t count) {
  if (mask || count == lanes)
    return load(memref, at, lanes, mask);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Values elements;
  for (int64_t lane = 0; lane < count; ++lane)
    elements.push_back(loadScalar(memref, linear(lane, {{at, 1}})));
  elements.resize(lanes, zeros(element));
  return create<vector::FromElementsOp>(VectorType::get({lanes}, element), elements);
}

void ContractionBuilder::storeLanes(Value v, Value memref, Value at, Value mask, int64_t count) {
  if (mask || count == cast<VectorType>(v.getType()).getNumElements())
    return store(v, memref, at, mask);
  for (int64_t lane = 0; lane < count; ++lane)
    storeScalar(create<vector::ExtractOp>(v, lane), memref, linear(lane, {{at, 1}}));
}

void ContractionBuilder::transpose(Value memref, int64_t lanes, function_ref<Value(int64_t)> pieceAt,
                                   function_ref<void(int64_t, Value)> sink) {
  const Type element = cast<MemRefType>(memref.getType()).getElementType();
  const int64_t unit = transposeUnit(element);
  auto gather = [&](Value, int64_t row) {
    Values pieces;
    for (int64_t lane = row; lane < lanes; lane += unit)
      pieces.push_back(load(memref, pieceAt(lane), unit));
    return joinVectors(b, loc, std::move(pieces));
  };
  auto sinkAll = [&](Value, ArrayRef<Value> vectors) {
    for (auto [i, v] : llvm::enumerate(vectors))
      sink(static_cast<int64_t>(i), v);
  };
  transposeSquares(b, loc, element, lanes, {gather, sinkAll}, Value(), [&](int64_t i) { return index(i); });
}
