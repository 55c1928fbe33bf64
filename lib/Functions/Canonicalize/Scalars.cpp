//===- Scalars.cpp - Scalar code that is defined for all operands ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Recipes, the naive lowering and the oracle all start from this form, so they compute the same.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Canonicalize/Numbers.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

bool isScalarCode(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         op->getResult(0).getType().isIntOrIndexOrFloat();
}

/// Returns the scalar code that computes sizes and offsets of tensors and memrefs, which must not be rewritten.
llvm::SmallDenseSet<Operation *> computationsOfSizes(Block &body) {
  llvm::SmallDenseSet<Operation *> found;
  for (Operation &op : llvm::reverse(body)) {
    if (isa<linalg::LinalgOp>(op) || (isScalarCode(&op) && !found.contains(&op)))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *from = operand.getDefiningOp(); from && operand.getType().isIntOrIndex())
        found.insert(from);
  }
  return found;
}

void defineIn(Block &block, const llvm::SmallDenseSet<Operation *> &apart) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isScalarCode(&op) && !apart.contains(&op))
      (void)(defineInteger(&op) || defineConversion(&op) || expandFunction(&op));
}

} // namespace

void functions::defineScalars(func::FuncOp function) {
  Block &body = function.getBody().front();
  defineIn(body, computationsOfSizes(body));
  for (auto op : function.getOps<linalg::GenericOp>())
    defineIn(*op.getBlock(), {});
}

void functions::computeHalfBytes(func::FuncOp function) {
  computeInBytes(function.getBody().front());
  for (auto op : function.getOps<linalg::GenericOp>())
    computeInBytes(*op.getBlock());
}
