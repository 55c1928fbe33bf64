//===- Bodies.cpp - Bodies of a chain's stages, cloned -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;

SmallVector<Value> rows::cloneBody(OpBuilder &builder, Stage &stage, ArrayRef<Value> arguments, const BodyCloner &cloner) {
  IRMapping map;
  Block *block = stage.op.getBlock();
  for (auto [argument, value] : llvm::zip(block->getArguments(), arguments))
    if (value)
      map.map(argument, value);
  auto valueOf = [&](Value v) { return map.contains(v) ? map.lookup(v) : cloner.captured(v); };
  for (Operation &op : block->without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue; // captured where it is used
    if (stage.reduces && llvm::is_contained(block->getTerminator()->getOperands(), op.getResult(0))) {
      auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
      bool accumulatorFirst = argument && argument.getOwner() == block && argument.getArgNumber() >= stage.ins.size();
      map.map(op.getResult(0),
              cloner.reduced(&op, op.getOperand(accumulatorFirst ? 1 : 0), op.getOperand(accumulatorFirst ? 0 : 1), valueOf));
      continue;
    }
    for (Value v : op.getOperands())
      if (!map.contains(v))
        map.map(v, cloner.captured(v));
    cloner.adapt(builder.clone(op, map));
  }
  return SmallVector<Value>(llvm::map_range(block->getTerminator()->getOperands(), valueOf));
}

Value rows::combine(OpBuilder &builder, Operation *like, Value term, Value accumulator) {
  Location loc = like->getLoc();
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(like)) {
    auto predicate = isa<arith::MaxNumFOp>(like) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, term, accumulator), term, accumulator);
  }
  Operation *op = builder.clone(*like);
  op->setOperands({term, accumulator});
  op->getResult(0).setType(term.getType());
  return op->getResult(0);
}

void rows::addKeepingLost(OpBuilder &builder, Location loc, Value &sum, Value &lost, Value term) {
  Value total = arith::AddFOp::create(builder, loc, sum, term);
  Value seen = arith::SubFOp::create(builder, loc, total, sum);
  Value lostOfSum = arith::SubFOp::create(builder, loc, sum, arith::SubFOp::create(builder, loc, total, seen));
  Value lostOfTerm = arith::SubFOp::create(builder, loc, term, seen);
  lost = arith::AddFOp::create(builder, loc, lost, arith::AddFOp::create(builder, loc, lostOfSum, lostOfTerm));
  sum = total;
}
