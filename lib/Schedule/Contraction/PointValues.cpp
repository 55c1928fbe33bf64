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

SmallVector<Value> EpiloguePoint::evaluate(const PointOp &point, const KnownValues &known) {
  IRMapping map;
  linalg::LinalgOp op = point.op;
  auto captured = [&](Value scalar) { return ir.captured(scalar, lanes); };
  auto bind = [&](BlockArgument element, const TileAccess &access, Value operand) {
    if (element.use_empty())
      return;
    Value value = access.base ? known.find(access) : captured(operand);
    map.map(element, value ? value : load(access));
  };
  for (auto [element, access, operand] : llvm::zip_equal(op.getRegionInputArgs(), point.ins, op.getDpsInputs()))
    bind(element, access, operand);
  for (auto [element, access, operand] : llvm::zip_equal(op.getRegionOutputArgs(), point.outs, op.getDpsInits()))
    bind(element, access, operand);
  return cloneBody(ir.b, *op.getBlock(), map, captured,
                   [&](Operation *clone) { clone->getResult(0).setType(typeOf(clone->getResult(0).getType())); });
}

Value EpiloguePoint::startOf(const Accumulator &accumulator) {
  if (accumulator.start)
    return evaluate(*accumulator.start)[0];
  return accumulator.fill ? ir.splat(accumulator.fill, lanes) : load(accumulator.at);
}

void EpiloguePoint::finish(const Chain &chain, function_ref<Value(unsigned)> sum, KnownValues known) {
  for (auto [n, accumulator] : llvm::enumerate(chain.accumulators)) {
    Value own = sum(n);
    known.set(accumulator.at, own);
    if (accumulator.isStored)
      store(own, accumulator.at);
  }
  for (const PointOp &point : chain.epilogue) {
    const KernelBuilder::AtOperation scope(ir, locationOf(point));
    if (point.isPerColumn && known.find(point.outs[0]))
      continue;
    for (auto [out, value] : llvm::zip_equal(point.outs, evaluate(point, known))) {
      known.set(out, value);
      if (out.isArgument())
        store(value, out);
    }
  }
}

Value contractions::multiplyAdd(OpBuilder &b, Location loc, bool isFma, Value x, Value y, Value sum) {
  if (isFma)
    return math::FmaOp::create(b, loc, x, y, sum);
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType())))
    return arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, x, y));
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, x, y));
}
