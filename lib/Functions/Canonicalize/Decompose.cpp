//===- Decompose.cpp - Decomposition of a caller's operations -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rewrites operations that compilers have names for (softmax, packing, padding, concatenation) as fills, insertions and
// generic operations, without loops and dims of size 1. Upstream does this for tensors; softmax, the only such
// operation on memrefs, is first rewritten on tensors.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Canonicalize/Upstream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Rewrites softmax on memrefs as softmax on tensors whose result is stored to the memref.
void putSoftmaxOnTensors(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto softmax : llvm::to_vector(function.getOps<linalg::SoftmaxOp>())) {
    if (!softmax.hasPureBufferSemantics())
      continue;
    rewriter.setInsertionPoint(softmax);
    Location loc = softmax.getLoc();
    auto type = cast<MemRefType>(softmax.getInput().getType());
    auto tensorType = RankedTensorType::get(type.getShape(), type.getElementType());
    Value input = bufferization::ToTensorOp::create(rewriter, loc, tensorType, softmax.getInput(), /*restrict=*/true);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, input), type.getElementType());
    auto made = linalg::SoftmaxOp::create(rewriter, loc, TypeRange(tensorType), input, empty, softmax.getDimension());
    auto arrive =
        bufferization::MaterializeInDestinationOp::create(rewriter, loc, made->getResult(0), softmax.getOutput());
    arrive.setRestrict(true);
    arrive.setWritable(true);
    rewriter.eraseOp(softmax);
  }
}

LogicalResult unpackAndPack(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto pack : llvm::to_vector(function.getOps<linalg::PackOp>())) {
    rewriter.setInsertionPoint(pack);
    if (failed(linalg::lowerPack(rewriter, pack, /*lowerPadLikeWithInsertSlice=*/false)))
      return pack.emitError("a packing that upstream does not lower");
  }
  for (auto unpack : llvm::to_vector(function.getOps<linalg::UnPackOp>())) {
    rewriter.setInsertionPoint(unpack);
    if (failed(linalg::lowerUnPack(rewriter, unpack, /*lowerUnpadLikeWithExtractSlice=*/false)))
      return unpack.emitError("an unpacking that upstream does not lower");
  }
  return success();
}

/// Replaces reshapes of static tensors, which move no data: collapses all dims into one and expands it into the others.
void reshapeByDims(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto reshape : llvm::to_vector(function.getOps<tensor::ReshapeOp>())) {
    auto from = cast<RankedTensorType>(reshape.getSource().getType()), to = cast<RankedTensorType>(reshape.getType());
    rewriter.setInsertionPoint(reshape);
    auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
    auto allOf = [](RankedTensorType type) {
      SmallVector<ReassociationIndices> all(type.getRank() ? 1 : 0);
      for (int64_t d = 0; d < type.getRank(); ++d)
        all[0].push_back(d);
      return all;
    };
    Value value = reshape.getSource();
    if (from.getRank() != 1)
      value = from.getRank()
                  ? tensor::CollapseShapeOp::create(rewriter, reshape.getLoc(), flat, value, allOf(from)).getResult()
                  : tensor::ExpandShapeOp::create(rewriter, reshape.getLoc(), flat, value,
                                                  SmallVector<ReassociationIndices>())
                        .getResult();
    if (to.getRank() == 0)
      value =
          tensor::CollapseShapeOp::create(rewriter, reshape.getLoc(), to, value, SmallVector<ReassociationIndices>());
    else if (to.getRank() != 1)
      value = tensor::ExpandShapeOp::create(rewriter, reshape.getLoc(), to, value, allOf(to));
    rewriter.replaceOp(reshape, value);
  }
}

/// Expands rsqrt, for which no target has an instruction or expansion.
void expandRoots(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](math::RsqrtOp op) {
    rewriter.setInsertionPoint(op);
    auto one = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), 1));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand(), op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root, op.getFastmath());
  });
}

/// Replaces tables of half bytes by tables of bytes and their conversion, because a kernel's tables have whole bytes.
void widenTables(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto constant : llvm::to_vector(function.getOps<arith::ConstantOp>())) {
    auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!elements || !type || !type.getElementType().isInteger(4) || elements.isSplat())
      continue;
    rewriter.setInsertionPoint(constant);
    Location loc = constant.getLoc();
    Type byte = rewriter.getI8Type();
    Value bytes = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(Attribute(elements.mapValues(byte, [](const APInt &x) { return x.sext(8); }))));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    const auto rank = static_cast<unsigned>(type.getRank());
    const SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(rank));
    auto converted = linalg::GenericOp::create(
        rewriter, loc, type, bytes, empty, maps, SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &inner, Location at, ValueRange of) {
          linalg::YieldOp::create(inner, at,
                                  arith::TruncIOp::create(inner, at, type.getElementType(), of[0]).getResult());
        });
    rewriter.replaceOp(constant, converted);
  }
}

LogicalResult generalize(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>())) {
    if (isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
      continue;
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitError("an operation that upstream does not generalize");
  }
  return success();
}

/// Applies patterns. A long chain takes one round per operation. If the patterns do not converge, the function is still
/// equivalent, and the following check refuses unsupported operations.
void rewriteBy(func::FuncOp function, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.enableFolding(true);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled); // there is one block
  config.setMaxIterations(10 + static_cast<int64_t>(function.getBody().front().getOperations().size()));
  (void)applyPatternsGreedily(function, patterns, config);
}

/// Returns the views from `memory` to `view`, the last first, if `view` covers all of it; otherwise an empty list.
SmallVector<Operation *> viewsOfAll(Value view, Value memory) {
  SmallVector<Operation *> views;
  for (; view != memory; view = views.back()->getOperand(0)) {
    Operation *from = view.getDefiningOp();
    auto type = dyn_cast<MemRefType>(view.getType());
    if (!type || !from || from->getNumOperands() != 1 ||
        !isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::SubViewOp>(from))
      return {};
    auto whole = cast<MemRefType>(from->getOperand(0).getType());
    if (isa<memref::SubViewOp>(from) && (!whole.hasStaticShape() || whole.getNumElements() != type.getNumElements()))
      return {};
    views.push_back(from);
  }
  return views;
}

/// If an operation accumulates on filled memory through a view of all of it, makes the fill write that view.
void fillViews(func::FuncOp function) {
  for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>()))
    for (auto op : function.getOps<linalg::GenericOp>()) {
      auto reaches = [&](Value init) { return !viewsOfAll(init, fill.getOutputs()[0]).empty(); };
      const auto init = llvm::find_if(op.getOutputs(), reaches);
      if (init == op.getOutputs().end() || op->isBeforeInBlock(fill))
        continue;
      for (Operation *view : llvm::reverse(viewsOfAll(*init, fill.getOutputs()[0])))
        if (fill->isBeforeInBlock(view))
          view->moveBefore(fill);
      fill.getOutputsMutable()[0].set(*init);
      break;
    }
}

/// Upstream starts the maximum from NaN, which maxnumf ignores. Starts it from -infinity instead. Only the maximum of a
/// row of only NaN differs, and its softmax is NaN either way.
void startFromLeast(arith::ConstantOp constant) {
  auto number = dyn_cast<FloatAttr>(constant.getValue());
  if (number && number.getValue().isNaN())
    constant.setValueAttr(
        FloatAttr::get(number.getType(), APFloat::getInf(number.getValue().getSemantics(), /*Negative=*/true)));
}

/// Softmax divides by one sum per row: its reciprocal is computed once, as in the softmax primitive.
void multiplyByReciprocals(linalg::GenericOp op) {
  auto division = dyn_cast_or_null<arith::DivFOp>(op.getBlock()->getTerminator()->getOperand(0).getDefiningOp());
  if (!division || division.getType().getIntOrFloatBitWidth() < 32 || op.getInputs().size() != 2 ||
      division.getLhs() != op.getRegionInputArgs()[0] || division.getRhs() != op.getRegionInputArgs()[1])
    return;
  Value sums = op.getInputs()[1];
  OpBuilder builder(op);
  Location loc = op.getLoc();
  const auto rank = static_cast<unsigned>(cast<RankedTensorType>(sums.getType()).getRank());
  Value empty = tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, sums), division.getType());
  const SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  auto reciprocals = linalg::GenericOp::create(
      builder, loc, empty.getType(), sums, empty, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location at, ValueRange elements) {
        Value one = arith::ConstantOp::create(inner, at, inner.getFloatAttr(elements[0].getType(), 1));
        linalg::YieldOp::create(inner, at, arith::DivFOp::create(inner, at, one, elements[0]).getResult());
      });
  op.getInputsMutable()[1].set(reciprocals.getResult(0));
  builder.setInsertionPoint(division);
  Value product = arith::MulFOp::create(builder, loc, division.getLhs(), division.getRhs());
  division.replaceAllUsesWith(product);
  division.erase();
}

} // namespace

LogicalResult functions::decomposeSoftmax(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto softmax : llvm::to_vector(function.getOps<linalg::SoftmaxOp>())) {
    Operation *before = softmax->getPrevNode();
    rewriter.setInsertionPoint(softmax);
    FailureOr<SmallVector<Value>> values = softmax.decomposeOperation(rewriter);
    if (failed(values))
      return softmax.emitError("a softmax that upstream does not decompose");
    SmallVector<Operation *> made;
    for (Operation *op = softmax->getPrevNode(); op != before; op = op->getPrevNode())
      made.push_back(op);
    for (Operation *op : made) {
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        startFromLeast(constant);
      op->walk([](math::ExpOp exp) { exp.setFastmath(arith::FastMathFlags::afn); }); // may err by a few ulp
      if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.isAllParallelLoops())
        multiplyByReciprocals(generic);
    }
    rewriter.replaceOp(softmax, *values);
  }
  return success();
}

LogicalResult functions::decompose(func::FuncOp function, const Upstream &upstream) {
  putSoftmaxOnTensors(function);
  reshapeByDims(function);
  if (failed(unpackAndPack(function)) || failed(decomposeSoftmax(function)))
    return failure();
  rewriteBy(function, upstream.insertParts);
  if (failed(generalize(function)))
    return failure();
  foldEmpty(function);
  widenTables(function);
  defineScalars(function);
  rewriteBy(function, upstream.dropUnitDims);
  rewriteBy(function, upstream.fuseElementwise);
  fillViews(function);
  expandRoots(function);
  return success();
}
