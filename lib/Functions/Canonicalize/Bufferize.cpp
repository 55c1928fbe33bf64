//===- Bufferize.cpp - Bufferization of a caller's function ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses upstream's passes in destination-passing style: results are written to additional arguments, and the caller's
// tensors are never written. WriteOnce.cpp separates buffers that these passes use more than once.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Canonicalize/Upstream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Replaces constant tensors whose elements are all equal by fills.
void fillConstants(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto constant : llvm::to_vector(function.getOps<arith::ConstantOp>())) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!elements || !type || !elements.isSplat())
      continue;
    rewriter.setInsertionPoint(constant);
    Location loc = constant.getLoc();
    Value number = arith::ConstantOp::create(rewriter, loc, elements.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(constant, linalg::FillOp::create(rewriter, loc, number, empty));
  }
}

/// Copies values that are returned twice, because upstream's passes would free their memory twice.
void separateResults(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder builder(end);
  llvm::SmallDenseSet<Value> seen;
  for (OpOperand &result : end->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.get().getType());
    if (!type || seen.insert(result.get()).second)
      continue;
    Location loc = end->getLoc();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, result.get());
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    result.set(linalg::CopyOp::create(builder, loc, result.get(), empty).getResult(0));
  }
}

/// Gives each use of a fill's result its own fill, because a shared buffer would be copied.
void separateFills(func::FuncOp function) {
  for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>()))
    while (fill.getNumResults() && !fill->getResult(0).use_empty() && !fill->getResult(0).hasOneUse()) {
      OpOperand &use = *fill->getResult(0).use_begin();
      OpBuilder builder(fill);
      use.set(builder.clone(*fill)->getResult(0));
    }
}

/// Marks tensor arguments as read-only.
void protectArguments(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<TensorType>(function.getArgument(i).getType()))
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
}

/// Converts between integers and floats narrower than f32 through f32.
void convertByWide(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  auto isNarrow = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; };
  function.walk([&](Operation *op) {
    if (!isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
      return;
    Type f32 = rewriter.getF32Type();
    if (Type type = op->getResult(0).getType(); isNarrow(type)) {
      op->getResult(0).setType(f32);
      rewriter.setInsertionPointAfter(op);
      auto narrow = arith::TruncFOp::create(rewriter, op->getLoc(), type, op->getResult(0));
      rewriter.replaceAllUsesExcept(op->getResult(0), narrow, narrow);
    } else if (isNarrow(op->getOperand(0).getType())) {
      rewriter.setInsertionPoint(op);
      op->setOperand(0, arith::ExtFOp::create(rewriter, op->getLoc(), f32, op->getOperand(0)));
    }
  });
}

void lowerCopies(func::FuncOp function) {
  for (auto copy : llvm::to_vector(function.getOps<memref::CopyOp>())) {
    OpBuilder builder(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

} // namespace

LogicalResult functions::putOnMemrefs(func::FuncOp function, Upstream &upstream) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  const bool hasTensors =
      function
          .walk([&](Operation *op) {
            return llvm::any_of(op->getResultTypes(), isTensor) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted() ||
      llvm::any_of(function.getArgumentTypes(), isTensor);
  fillConstants(function);
  separateFills(function);
  separateResults(function);
  protectArguments(function);
  auto module = function->getParentOfType<ModuleOp>();
  if (hasTensors && failed(upstream.bufferize.run(module)))
    return failure();
  returnInArguments(function);
  if (failed(upstream.simplify.run(module)) || failed(verify(module)))
    return failure();
  computeHalfBytes(function);
  convertByWide(function);
  lowerCopies(function);
  shortenIndices(function);
  function.removeArgAttrsAttr();
  return success();
}
