//===- Upstream.cpp - Upstream patterns and passes for reading ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Upstream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace quern::functions;

namespace {

FrozenRewritePatternSet patternsOfParts(MLIRContext *context) {
  RewritePatternSet patterns(context);
  patterns.add<linalg::DecomposePadOpPattern>(context);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  for (Dialect *dialect : context->getLoadedDialects())
    if (isa<tensor::TensorDialect, linalg::LinalgDialect, arith::ArithDialect>(dialect))
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() == "tensor" || op.getStringRef() == "linalg.generic" ||
        op.getStringRef() == "linalg.fill")
      op.getCanonicalizationPatterns(patterns, context);
  return std::move(patterns);
}

FrozenRewritePatternSet patternsOfUnitDims(MLIRContext *context) {
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context); // for fills of another shape
  tensor::populateFoldTensorEmptyPatterns(patterns);
  linalg::ControlDropUnitDims options;
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  return std::move(patterns);
}

/// Returns true if two elementwise operations may be fused. An operation that reads a reduction keeps its loop order,
/// so that it stays fusible with the reduction.
bool belongsTogether(OpOperand *read) {
  constexpr size_t maxOperations = 64;
  auto first = read->get().getDefiningOp<linalg::GenericOp>();
  auto second = dyn_cast<linalg::GenericOp>(read->getOwner());
  if (!first || !second || first.getNumResults() != 1 || !first->hasOneUse() || !first.isAllParallelLoops() ||
      !second.isAllParallelLoops() ||
      first.getBlock()->getOperations().size() + second.getBlock()->getOperations().size() > maxOperations)
    return false;
  AffineMap map = second.getMatchingIndexingMap(read);
  auto isReduced = [](Value input) {
    auto op = input.getDefiningOp<linalg::LinalgOp>();
    return op && op.getNumReductionLoops();
  };
  return map.isIdentity() || (map.isPermutation() && llvm::none_of(first.getInputs(), isReduced));
}

FrozenRewritePatternSet patternsOfFusion(MLIRContext *context) {
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, belongsTogether);
  return std::move(patterns);
}

} // namespace

Upstream::Upstream(MLIRContext &context)
    : insertParts(patternsOfParts(&context)), dropUnitDims(patternsOfUnitDims(&context)),
      fuseElementwise(patternsOfFusion(&context)), bufferize(&context, ModuleOp::getOperationName()),
      simplify(&context, ModuleOp::getOperationName()) {
  bufferize.enableVerifier(false);
  bufferize.addPass(memref::createResolveShapedTypeResultDimsPass()); // sizes of results from sizes of arguments
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.addPass(bufferization::createOneShotBufferizePass(options));
  simplify.enableVerifier(false);
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  simplify.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  simplify.addPass(math::createMathExtendToSupportedTypes());
  simplify.addPass(memref::createResolveShapedTypeResultDimsPass());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled); // there is one block
  simplify.addPass(createCanonicalizerPass(config));
  simplify.addPass(createCSEPass());
}
