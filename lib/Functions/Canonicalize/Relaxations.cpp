//===- Relaxations.cpp - Relaxations that linalg permits ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "Functions/Check.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;

namespace {

/// Returns true if a reduction writes the maximum of `values` to `most`.
bool isGreatestOf(linalg::GenericOp op, Value most, Value values) {
  if (op.getInputs().size() != 1 || op.getInputs()[0] != values || op.getOutputs().size() != 1 ||
      op.getOutputs()[0] != most || op.getNumReductionLoops() == 0)
    return false;
  Operation *combine = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>(combine) &&
         llvm::is_contained(combine->getOperands(), op.getRegionInputArgs()[0]) &&
         llvm::is_contained(combine->getOperands(), op.getRegionOutputArgs()[0]);
}

/// Returns the input that an element of the body belongs to; null for other values.
OpOperand *operandOf(linalg::GenericOp op, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  return argument && argument.getOwner() == op.getBlock() && argument.getArgNumber() < op.getInputs().size()
             ? &op->getOpOperand(argument.getArgNumber())
             : nullptr;
}

/// Returns true if `number` is an element minus the maximum of its row, and therefore not positive, or NaN.
bool isNonpositive(linalg::GenericOp op, Value number) {
  auto difference = number.getDefiningOp<arith::SubFOp>();
  OpOperand *element = difference ? operandOf(op, difference.getLhs()) : nullptr,
            *most = difference ? operandOf(op, difference.getRhs()) : nullptr;
  if (!element || !most)
    return false;
  auto placeIn = [](linalg::GenericOp reader, OpOperand &values,
                    OpOperand &greatest) { // map from positions in `values`
    AffineMap from = reader.getMatchingIndexingMap(&values);
    return from.isPermutation() ? reader.getMatchingIndexingMap(&greatest).compose(inversePermutation(from))
                                : AffineMap();
  };
  auto isWritten = [&](Operation *from) { // true if an op after the reduction writes it
    for (Operation *other = from->getNextNode(); other && other != op; other = other->getNextNode())
      if (auto writer = dyn_cast<linalg::LinalgOp>(other))
        for (Value init : writer.getDpsInits())
          if (functions::rootOf(init) == functions::rootOf(element->get()))
            return true;
    return false;
  };
  AffineMap place = placeIn(op, *element, *most);
  return place && llvm::any_of(most->get().getUsers(), [&](Operation *user) {
           auto reduction = dyn_cast<linalg::GenericOp>(user);
           return reduction && reduction->isBeforeInBlock(op) && !isWritten(reduction) &&
                  isGreatestOf(reduction, most->get(), element->get()) &&
                  placeIn(reduction, reduction->getOpOperand(0), reduction->getOpOperand(1)) == place;
         });
}

} // namespace

void quern::functions::setFastMathFlags(func::FuncOp function) {
  using arith::FastMathFlags;
  for (auto op : function.getOps<linalg::GenericOp>()) // each buffer is written once at this point
    for (auto exp : op.getBlock()->getOps<math::ExpOp>())
      if (isNonpositive(op, exp.getOperand()))
        addRelaxation(exp, Relaxation::Nonpositive);
  for (auto op : function.getOps<linalg::LinalgOp>()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    for (BlockArgument accumulator : op.getRegionOutputArgs()) {
      auto add = accumulator.hasOneUse() ? dyn_cast<arith::AddFOp>(*accumulator.user_begin()) : arith::AddFOp();
      if (!add)
        continue;
      Value term = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
      auto product = term.getDefiningOp<arith::MulFOp>();
      auto flags = add.getFastmath() | FastMathFlags::reassoc;
      if (product) {
        flags = flags | FastMathFlags::contract;
        product.setFastmath(product.getFastmath() | FastMathFlags::contract);
      }
      add.setFastmath(flags);
    }
  }
}
