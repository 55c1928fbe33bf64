//===- PointValues.cpp - Elementwise ops at a point ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/PointValues.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

Value KnownValues::find(const TileAccess &at) const {
  for (const auto &[known, value] : llvm::reverse(values))
    if (known == at)
      return value;
  return {};
}

SmallVector<Value> contractions::evaluate(OpBuilder &b, const PointOp &point, const KnownValues &known,
                                          const PointReader &reader) {
  IRMapping map;
  linalg::LinalgOp op = point.op;
  auto bind = [&](BlockArgument element, const TileAccess &access, Value operand) {
    if (element.use_empty())
      return;
    Value value = access.base ? known.find(access) : reader.captured(operand);
    map.map(element, value ? value : reader.load(access));
  };
  for (auto [element, access, operand] : llvm::zip_equal(op.getRegionInputArgs(), point.ins, op.getDpsInputs()))
    bind(element, access, operand);
  for (auto [element, access, operand] : llvm::zip_equal(op.getRegionOutputArgs(), point.outs, op.getDpsInits()))
    bind(element, access, operand);
  return cloneBody(b, *op.getBlock(), map, reader.captured, reader.adapt);
}

Value contractions::multiplyAdd(OpBuilder &b, Location loc, bool isFma, Value x, Value y, Value sum) {
  if (isFma)
    return math::FmaOp::create(b, loc, x, y, sum);
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, x, y));
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x, y));
}
