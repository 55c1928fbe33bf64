//===- Problem.cpp - The analysis of linalg that all recipes share --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Problem.h"

#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

/// Returns the extents of an op's loops. Linalg requires that all dims that one loop indexes have the same size. The
/// extent is a number if one of them is static; otherwise it is the open size of the first argument that has one.
static Sizes extentsOf(linalg::LinalgOp op, const ArgumentSizes &sizes) {
  Sizes extents;
  for (auto [loop, number] : llvm::enumerate(op.getStaticLoopRanges())) {
    Size &extent =
        extents.emplace_back(!ShapedType::isDynamic(number) && number < endOfNumbers ? Size(number) : Size::untold());
    if (!ShapedType::isDynamic(number))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!type || !dim || dim.getPosition() != loop || (type.isDynamicDim(d) && !isa<BlockArgument>(operand.get())))
          continue;
        extent = moreSpecific(extent, sizes.layoutOf(operand.get()).shape[d]);
      }
    }
  }
  return extents;
}

/// Returns true for scalar code (loads from arguments, operations without effects) and for memory other than the
/// arguments (isFlatBase()).
static bool isPrologue(Operation &op) {
  if (isa<ViewLikeOpInterface, memref::GetGlobalOp>(op))
    return isFlatBase(&op);
  auto load = dyn_cast<memref::LoadOp>(op);
  return (load && isa<BlockArgument>(load.getMemRef())) ||
         (isMemoryEffectFree(&op) && !op.getNumRegions() && !isa<memref::DimOp>(op));
}

/// Returns true for operations that recipes do not need: constants, the return, views, and allocations with their
/// sizes. The size of an allocated buffer is that of the argument whose loops it shares.
static bool isOfMemory(Operation &op) {
  auto isSizeOf = [](Operation *user) { return isa<memref::AllocOp>(user) || isView(user); };
  return isa<memref::AllocOp, memref::DeallocOp, func::ReturnOp, arith::ConstantOp>(op) || isView(&op) ||
         (isa<memref::DimOp>(op) && llvm::all_of(op.getUsers(), isSizeOf));
}

/// Returns a reason, or an empty string.
static std::string read(Problem &problem) {
  if (!problem.function.getBody().hasOneBlock())
    return "the function has control flow";
  for (Type type : problem.function.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type); !memref || !readStrides(memref))
      return "an argument is not a strided memref";
  for (Operation &op : problem.function.getBody().front()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && (!linalgOp.hasPureBufferSemantics() || !linalgOp.getNumDpsInits()))
      return ("'" + op.getName().getStringRef() + "' does not operate on memrefs, or writes none").str();
    if (linalgOp)
      problem.ops.emplace_back(linalgOp, problem.sizes);
    else if (!isOfMemory(op) && !isPrologue(op))
      return ("'" + op.getName().getStringRef() + "' is not supported in a problem").str();
    else if (!isOfMemory(op))
      problem.prologue.push_back(&op);
  }
  llvm::SmallDenseSet<Value, 8> written;
  for (const ProblemOp &own : problem.ops) {
    if (llvm::is_contained(own.extents, Size(0)))
      return "the space is empty";
    for (OpOperand &init : own.op.getDpsInitsMutable())
      written.insert(own.at(init).base);
  }
  for (Operation *op : problem.prologue)
    if (auto load = dyn_cast<memref::LoadOp>(op); load && written.contains(load.getMemRef()))
      return "a scalar is read from an argument that is written";
  return problem.ops.empty() ? "there is no op" : "";
}

ProblemOp::ProblemOp(linalg::LinalgOp op, const ArgumentSizes &sizes) : op(op), extents(extentsOf(op, sizes)) {
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(readAccess(operand, extents, sizes));
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>()) {
    LoopAccess &access = indices.emplace_back();
    access.base = index.getResult();
    for (auto [loop, extent] : llvm::enumerate(extents))
      access.loops.push_back(AccessFunction::linear(loop == index.getDim() ? 1 : 0, extent));
  }
}

Problem::Problem(func::FuncOp function) : function(function), sizes(function), whyNot(read(*this)) {}
