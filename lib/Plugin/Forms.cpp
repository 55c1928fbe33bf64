//===- Forms.cpp - Preparing functions for bufferization ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Plugin/Forms.h"

#include "quern-compiler/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace quern;
using namespace quern::plugin;

namespace {

/// Returns the value that all elements of a constant tensor share, or null.
TypedAttr splatOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return elements && elements.isSplat() ? elements.getSplatValue<TypedAttr>() : nullptr;
}

void putNumbersInBodies(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  function.walk([&](linalg::GenericOp op) {
    builder.setInsertionPoint(op);
    for (OpOperand *input : op.getDpsInputOperands())
      if (TypedAttr number = splatOf(input->get()))
        op.getMatchingBlockArgument(input).replaceAllUsesWith(
            arith::ConstantOp::create(builder, op.getLoc(), number).getResult());
  });
}

LogicalResult dropUnusedOperands(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  GreedyRewriteConfig config; // each rewrite erases something, so the iteration terminates
  config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
  return applyPatternsGreedily(function, std::move(patterns), config);
}

void fillTensors(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto constant : llvm::to_vector(function.getOps<arith::ConstantOp>())) {
    TypedAttr splat = splatOf(constant);
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!splat || !type)
      continue;
    rewriter.setInsertionPoint(constant);
    Location loc = constant.getLoc();
    Value number = arith::ConstantOp::create(rewriter, loc, splat);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(constant, linalg::FillOp::create(rewriter, loc, number, empty));
  }
}

} // namespace

LogicalResult plugin::prepareForMemrefs(func::FuncOp function) {
  if (failed(compiler::decomposeSoftmax(function)))
    return failure();
  putNumbersInBodies(function);
  if (failed(dropUnusedOperands(function)))
    return failure();
  fillTensors(function);
  return success();
}
