//===- Results.cpp - Arguments and results as memory ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel has only buffers: a number becomes memory of one element, and a result becomes an additional argument.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;

void functions::loadNumbers(func::FuncOp function) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    Type type = argument.getType();
    if (!type.isIntOrIndexOrFloat())
      continue;
    const bool isIndex = type.isIndex();
    argument.setType(MemRefType::get({}, isIndex ? builder.getI32Type() : type));
    auto load = memref::LoadOp::create(builder, argument.getLoc(), argument);
    Value number = load;
    if (isIndex)
      number = arith::IndexCastOp::create(builder, argument.getLoc(), type, number);
    argument.replaceAllUsesExcept(number, load);
  }
  function.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), function.getResultTypes()));
}

/// Returns the views that lead to a value, the last first, as far as they can be inverted.
static SmallVector<Operation *> reversibleViews(Value value) {
  SmallVector<Operation *> views;
  while (Operation *view = value.getDefiningOp()) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(view) || !type || !type.hasStaticShape())
      break;
    views.push_back(view);
    value = view->getOperand(0);
  }
  return views;
}

static Value undo(OpBuilder &builder, Operation *view, Value of) {
  auto type = cast<MemRefType>(view->getOperand(0).getType());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view))
    return memref::CollapseShapeOp::create(builder, view->getLoc(), type, of, expand.getReassociationIndices());
  auto collapse = cast<memref::CollapseShapeOp>(view);
  return memref::ExpandShapeOp::create(builder, view->getLoc(), type, of, collapse.getReassociationIndices());
}

/// Memory that is allocated for a result is replaced by the argument; other results are copied to it.
void functions::returnInArguments(func::FuncOp function) {
  Block &body = function.getBody().front();
  auto end = cast<func::ReturnOp>(body.getTerminator());
  for (Value result : end.getOperands()) {
    auto type = cast<MemRefType>(result.getType());
    BlockArgument argument =
        body.addArgument(MemRefType::get(type.getShape(), type.getElementType()), function.getLoc());
    SmallVector<Operation *> views = reversibleViews(result);
    Value memory = views.empty() ? result : views.back()->getOperand(0);
    auto alloc = memory.getDefiningOp<memref::AllocOp>();
    OpBuilder builder(end);
    if (!alloc) {
      memref::CopyOp::create(builder, end.getLoc(), result, argument);
      continue;
    }
    builder.setInsertionPoint(alloc);
    Value place = argument;
    for (Operation *view : views)
      place = undo(builder, view, place);
    alloc.replaceAllUsesWith(place);
    alloc.erase();
  }
  end->setOperands({});
  function.setFunctionType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
}
