//===- LoopTree.cpp - The loops of a schedule -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See LoopTree.h.
//
//===----------------------------------------------------------------------===//
#include "Compiler/LoopTree.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace quern {
namespace {

int64_t elementsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

int64_t bytesOf(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? elementsOf(type) * std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8) : 0;
}

/// Arithmetic on places is none.
bool isOfData(Type type) { return isa<VectorType>(type) || isa<FloatType>(type); }

/// What a view is of: an argument of the kernel by name, scratch, or memory of the stack.
StringRef nameOfMemory(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return "stack";
    memory = view.getViewSource();
  }
  auto argument = cast<BlockArgument>(memory);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return "memory";
  if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::arg))
    return name.getValue();
  return function.getArgAttr(argument.getArgNumber(), attr::scratch) ? "scratch" : "shared";
}

/// The memory that an operation accesses.
Value memoryOf(Operation &op) {
  for (Value operand : op.getOperands())
    if (isa<MemRefType>(operand.getType()))
      return operand;
  return nullptr;
}

void count(Operation &op, LoopNode &node) {
  auto read = [&](Type type) {
    ++node.loads;
    node.bytesRead += bytesOf(type);
    if (Value memory = memoryOf(op))
      node.read.insert(nameOfMemory(memory));
  };
  auto write = [&](Type type) {
    ++node.stores;
    node.bytesWritten += bytesOf(type);
    if (Value memory = memoryOf(op))
      node.written.insert(nameOfMemory(memory));
  };
  if (isa<vector::LoadOp, vector::MaskedLoadOp, memref::LoadOp, vector::GatherOp>(op)) {
    if (!op.getResult(0).getType().isIndex()) // a size is no data
      read(op.getResult(0).getType());
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    write(store.getValueToStore().getType());
  } else if (auto store = dyn_cast<vector::MaskedStoreOp>(op)) {
    write(store.getValueToStore().getType());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    write(store.getValueToStore().getType());
  } else if (op.getNumResults() == 1 && isOfData(op.getResult(0).getType()) && !isa<arith::ConstantOp>(op)) {
    const bool isMath = isa_and_present<math::MathDialect>(op.getDialect());
    const bool isArith = isa_and_present<arith::ArithDialect>(op.getDialect());
    const Type type = op.getResult(0).getType();
    ++node.operations;
    if (auto reduced = dyn_cast<vector::ReductionOp>(op))
      node.flops += elementsOf(reduced.getVector().getType());
    else if ((isMath || isArith) && isa<FloatType>(getElementTypeOrSelf(type)))
      node.flops += elementsOf(type) * (isa<math::FmaOp>(op) ? 2 : 1);
  }
}

class Reader {
public:
  std::vector<LoopNode> nodes;

  void readFunction(func::FuncOp function) {
    const size_t at = add(function, 0);
    nodes[at].name = function.getName().str();
    nodes[at].space = attrOf<KernelAttr>(function).getSpace();
    readRegion(function.getBody(), at);
  }

private:
  size_t add(Operation *op, int64_t depth) {
    LoopNode node;
    node.depth = depth;
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      node.line = place.getLine();
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  }

  /// The last two arguments of a kernel are where the iterations of a call begin and end.
  static int64_t ofSpace(scf::ForOp loop) {
    auto begin = dyn_cast<BlockArgument>(loop.getLowerBound()), end = dyn_cast<BlockArgument>(loop.getUpperBound());
    auto function = dyn_cast<func::FuncOp>(loop->getParentOp());
    const std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    const bool isWhole = function && begin && end && step && end == function.getArguments().back() &&
                         begin.getArgNumber() + 1 == end.getArgNumber();
    return isWhole ? *step : 0;
  }

  void readRegion(Region &region, size_t at) {
    for (Block &block : region)
      for (Operation &op : block)
        readOperation(op, at);
  }

  void readOperation(Operation &op, size_t at) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop) {
      count(op, nodes[at]);
      for (Region &region : op.getRegions())
        readRegion(region, at);
      return;
    }
    const size_t own = add(loop, nodes[at].depth + 1);
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      nodes[own].trips = trips->getSExtValue();
    else
      nodes[own].ofSpace = ofSpace(loop);
    nodes[own].carried = static_cast<int64_t>(loop.getInitArgs().size());
    readRegion(loop.getRegion(), own);
  }
};

} // namespace

std::vector<LoopNode> loopsOf(ModuleOp schedule) {
  Reader reader;
  for (auto function : schedule.getOps<func::FuncOp>())
    if (attrOf<KernelAttr>(function))
      reader.readFunction(function);
  return std::move(reader.nodes);
}

} // namespace quern
