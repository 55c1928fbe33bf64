//===- Bufferize.cpp - A caller's tensors as memrefs -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's passes do it, destination-passing: what a function returns is written into arguments behind its own, and
// the caller's tensors are never written. What they leave (a buffer used twice) WriteOnce.cpp takes apart.
//
//===----------------------------------------------------------------------===//
#include "Functions/Forms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// What no target has an instruction or an expansion for, by what it has.
void expandRoots(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](math::RsqrtOp op) {
    rewriter.setInsertionPoint(op);
    auto one = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), 1));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand(), op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root, op.getFastmath());
  });
}

/// A tensor of one value as a fill.
void fillConstants(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto constant : llvm::to_vector(function.getOps<arith::ConstantOp>())) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!elements || !type)
      continue;
    rewriter.setInsertionPoint(constant);
    Location loc = constant.getLoc();
    Value number = arith::ConstantOp::create(rewriter, loc, elements.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    rewriter.replaceOp(constant, linalg::FillOp::create(rewriter, loc, number, empty));
  }
}

/// A value that is returned twice is copied; upstream's passes would free its memory twice.
void separateResults(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder builder(end);
  llvm::SmallDenseSet<Value> seen;
  for (OpOperand &result : end->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.get().getType());
    if (!type || seen.insert(result.get()).second)
      continue;
    Location loc = end->getLoc();
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    result.set(linalg::CopyOp::create(builder, loc, result.get(), empty).getResult(0));
  }
}

/// A fill for each operation that accumulates on it: a shared one would be copied.
void separateFills(func::FuncOp function) {
  for (auto fill : llvm::to_vector(function.getOps<linalg::FillOp>()))
    while (fill.getNumResults() && !fill->getResult(0).use_empty() && !fill->getResult(0).hasOneUse()) {
      OpOperand &use = *fill->getResult(0).use_begin();
      OpBuilder builder(fill);
      use.set(builder.clone(*fill)->getResult(0));
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

/// What the caller gives is only read.
void protectArguments(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<TensorType>(function.getArgument(i).getType()))
      function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
}

LogicalResult putTensorsOnMemrefs(ModuleOp module) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  if (failed(passes.run(module)))
    return failure();
  bufferization::BufferResultsToOutParamsOpts results;
  results.hoistStaticAllocs = true;
  results.modifyPublicFunctions = true;
  return bufferization::promoteBufferResultsToOutParams(module, results);
}

/// Targets compute in f32 and f64; a result in f32, rounded, is what an operation on narrower floats gives.
LogicalResult simplify(ModuleOp module) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  passes.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  passes.addPass(math::createMathExtendToSupportedTypes());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

void lowerCopies(func::FuncOp function) {
  for (auto copy : llvm::to_vector(function.getOps<memref::CopyOp>())) {
    OpBuilder builder(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

} // namespace

// Upstream starts the maximum from NaN, which maxnumf passes over; the least value does the same but for a row of NaN
// alone, which is NaN either way.
LogicalResult functions::decomposeSoftmax(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto softmax : llvm::to_vector(function.getOps<linalg::SoftmaxOp>())) {
    Operation *before = softmax->getPrevNode();
    rewriter.setInsertionPoint(softmax);
    FailureOr<SmallVector<Value>> values = softmax.decomposeOperation(rewriter);
    if (failed(values))
      return softmax.emitError("a softmax that upstream does not decompose");
    for (Operation *op = softmax->getPrevNode(); op != before; op = op->getPrevNode())
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && number.getValue().isNaN())
          constant.setValueAttr(
              FloatAttr::get(number.getType(), APFloat::getInf(number.getValue().getSemantics(), /*Negative=*/true)));
    rewriter.replaceOp(softmax, *values);
  }
  return success();
}

LogicalResult functions::putOnMemrefs(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  const bool hasTensors =
      function
          .walk([&](Operation *op) {
            return llvm::any_of(op->getResultTypes(), isTensor) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted() ||
      llvm::any_of(function.getArgumentTypes(), isTensor);
  if (failed(decomposeSoftmax(function)))
    return failure();
  fillConstants(function);
  separateFills(function);
  separateResults(function);
  if (failed(generalize(function)))
    return failure();
  protectArguments(function);
  expandRoots(function);
  auto module = function->getParentOfType<ModuleOp>();
  if ((hasTensors && failed(putTensorsOnMemrefs(module))) || failed(simplify(module)))
    return failure();
  lowerCopies(function);
  function.removeArgAttrsAttr();
  return success();
}
