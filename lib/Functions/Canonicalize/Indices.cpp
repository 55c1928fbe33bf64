//===- Indices.cpp - Indices in bodies as 32-bit numbers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels compute on vectors, and a register holds half as many 64-bit indices as 32-bit ones. If loops are so short
// that no sum of indices exceeds 32 bits, bodies compute in 32 bits.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;

namespace {

/// Sums and differences of a few numbers below this fit 32 bits.
constexpr int64_t endOfShort = int64_t(1) << 24;
constexpr int maxSteps = 32;

bool isShort(Operation &op, ArrayRef<int64_t> extents) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return !ShapedType::isDynamic(extents[index.getDim()]) && extents[index.getDim()] < endOfShort;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number && number.getValue().getSExtValue() > -endOfShort && number.getValue().getSExtValue() < endOfShort;
  }
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return cast.getType().isInteger(32);
  return isa<arith::AddIOp, arith::SubIOp, arith::CmpIOp, arith::SelectOp, arith::MaxSIOp, arith::MinSIOp,
             arith::MaxUIOp, arith::MinUIOp>(op);
}

bool takesIndices(Operation &op) {
  auto isIndex = [](Type type) { return type.isIndex(); };
  return llvm::any_of(op.getOperandTypes(), isIndex) || llvm::any_of(op.getResultTypes(), isIndex);
}

void shorten(linalg::GenericOp op) {
  SmallVector<Operation *> taking;
  const SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (Operation &inner : op.getBlock()->without_terminator())
    if (takesIndices(inner)) {
      if (!isShort(inner, extents) || taking.size() == maxSteps)
        return;
      for (Value operand : inner.getOperands()) // a caller's number may have any value
        if (Operation *from = operand.getDefiningOp();
            operand.getType().isIndex() && (!from || (from->getBlock() != op.getBlock() && !isShort(*from, extents))))
          return;
      taking.push_back(&inner);
    }
  OpBuilder builder(op.getContext());
  Type i32 = builder.getI32Type();
  auto asShort = [&](Value value) -> Value {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (!value.getType().isIndex() || !constant)
      return value;
    const auto number = static_cast<int32_t>(cast<IntegerAttr>(constant.getValue()).getInt());
    return arith::ConstantOp::create(builder, constant.getLoc(), builder.getI32IntegerAttr(number));
  };
  for (Operation *inner : taking) {
    builder.setInsertionPoint(inner);
    if (auto cast = dyn_cast<arith::IndexCastOp>(inner)) {
      inner->getResult(0).replaceAllUsesWith(asShort(inner->getOperand(0)));
      inner->erase();
      continue;
    }
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (isa<linalg::IndexOp>(inner)) {
      builder.setInsertionPointAfter(inner);
      Value index = inner->getResult(0);
      auto cast = arith::IndexCastOp::create(builder, inner->getLoc(), i32, index);
      index.replaceAllUsesExcept(cast, cast);
      continue;
    }
    for (OpOperand &operand : inner->getOpOperands())
      operand.set(asShort(operand.get()));
    for (Value result : inner->getResults())
      if (result.getType().isIndex())
        result.setType(i32);
  }
}

} // namespace

void functions::shortenIndices(func::FuncOp function) {
  for (auto op : function.getOps<linalg::GenericOp>())
    shorten(op);
}
