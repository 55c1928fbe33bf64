//===- LoopTree.cpp - The loops of a schedule -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <map>

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

/// Returns true for floats and vectors; arithmetic on addresses is not counted.
bool isOfData(Type type) { return isa<VectorType>(type) || isa<FloatType>(type); }

/// Returns the name of the memory that a view belongs to: an argument of the kernel, scratch, shared memory or the
/// stack.
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

/// Returns the memory that an operation accesses, or null.
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
    if (!op.getResult(0).getType().isIndex()) // a size is not data
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
    else if (auto dot = dyn_cast<vector::ContractionOp>(op); dot && isa<FloatType>(getElementTypeOrSelf(type))) {
      SmallVector<int64_t> bounds;
      dot.getIterationBounds(bounds);
      node.flops += 2 * llvm::product_of(bounds);
    } else if ((isMath || isArith) && isa<FloatType>(getElementTypeOrSelf(type)))
      node.flops += elementsOf(type) * (isa<math::FmaOp>(op) ? 2 : 1);
  }
}

/// Returns the value of an index if it depends only on constants and on `known`.
std::optional<int64_t> valueOf(Value value, const llvm::DenseMap<Value, int64_t> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions())
    return std::nullopt;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    const std::optional<int64_t> number = valueOf(operand, known);
    if (!number || !operand.getType().isIntOrIndex())
      return std::nullopt;
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.empty())
    return std::nullopt;
  auto number = dyn_cast_or_null<IntegerAttr>(dyn_cast<Attribute>(results.front()));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// Returns the average number of iterations of a loop whose bounds depend on the index of the surrounding loop; 0 if it
/// is not known.
double meanTripsOf(scf::ForOp loop) {
  constexpr int64_t maxEntries = 4096;
  auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
  const std::optional<APInt> entries = around ? around.getStaticTripCount() : std::nullopt;
  const std::optional<int64_t> begin = around ? getConstantIntValue(around.getLowerBound()) : std::nullopt,
                               step = around ? getConstantIntValue(around.getStep()) : std::nullopt;
  if (!entries || !begin || !step || !entries->isStrictlyPositive() || entries->getSExtValue() > maxEntries)
    return 0;
  int64_t trips = 0;
  for (int64_t entry = 0; entry < entries->getSExtValue(); ++entry) {
    const llvm::DenseMap<Value, int64_t> known{{around.getInductionVar(), *begin + entry * *step}};
    const std::optional<int64_t> from = valueOf(loop.getLowerBound(), known), to = valueOf(loop.getUpperBound(), known),
                                 by = valueOf(loop.getStep(), known);
    if (!from || !to || !by || *by <= 0)
      return 0;
    trips += std::max<int64_t>(0, llvm::divideCeilSigned(*to - *from, *by));
  }
  return static_cast<double>(trips) / static_cast<double>(entries->getSExtValue());
}

class LoopReader {
public:
  std::vector<LoopNode> nodes;

  void readFunction(func::FuncOp function) {
    const size_t at = add(function, 0);
    kernel = at;
    nodes[at].name = function.getName().str();
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (auto name = function.getArgAttrOfType<StringAttr>(argument, attr::arg))
        nodes[at].arguments.push_back(name.getValue());
    nodes[at].space = attrOf<KernelAttr>(function).getSpace();
    readRegion(function.getBody(), at);
  }

private:
  size_t add(Operation *op, int64_t depth) {
    LoopNode node;
    node.depth = depth;
    const auto lineOf = [](Operation *one) -> int64_t {
      auto place = one->getLoc()->findInstanceOf<FileLineColLoc>();
      return place ? place.getLine() : 0;
    };
    node.line = lineOf(op);
    op->walk([&](Operation *within) { node.last = std::max(node.last, lineOf(within)); });
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  }

  /// Returns the node to which LLVM moves an operation: the innermost loop that computes one of its operands. Returns
  /// nodes.size() for a repeated operation, which is counted once. Nodes on the path from a kernel to a loop have
  /// ascending numbers.
  size_t homeOf(Operation &op, size_t at) {
    for (Value result : op.getResults())
      homes[result] = at;
    if (!isMemoryEffectFree(&op) || op.getNumRegions() || op.getNumResults() != 1 || !op.getNumOperands())
      return at;
    size_t home = kernel;
    std::vector<const void *> inputs{op.getName().getAsOpaquePointer()};
    for (Value operand : op.getOperands()) {
      if (auto found = homes.find(operand); found != homes.end())
        home = std::max(home, found->second);
      const auto same = sameAs.find(operand);
      inputs.push_back((same == sameAs.end() ? operand : same->second).getAsOpaquePointer());
    }
    homes[op.getResult(0)] = home;
    if (home == at)
      return at;
    const auto [first, isNew] =
        hoisted.try_emplace({inputs, op.getAttrDictionary().getAsOpaquePointer()}, op.getResult(0));
    sameAs[op.getResult(0)] = first->second;
    return isNew ? home : nodes.size(); // already counted
  }

  size_t kernel = 0; ///< node of the function
  llvm::DenseMap<Value, size_t> homes;
  llvm::DenseMap<Value, Value> sameAs;
  std::map<std::pair<std::vector<const void *>, const void *>, Value>
      hoisted; ///< hoisted values by operands and attributes

  /// Returns the step of a loop over the range of iterations of a call (the last two arguments of a kernel); 0 for
  /// others.
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
      if (const size_t home = homeOf(op, at); home < nodes.size())
        count(op, nodes[home]);
      for (Region &region : op.getRegions())
        readRegion(region, at);
      return;
    }
    for (Value result : loop.getResults())
      homes[result] = at;
    const size_t loopNode = add(loop, nodes[at].depth + 1);
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      nodes[loopNode].trips = trips->getSExtValue();
    else if (nodes[loopNode].ofSpace = ofSpace(loop); !nodes[loopNode].ofSpace)
      nodes[loopNode].meanTrips = meanTripsOf(loop);
    nodes[loopNode].carried = static_cast<int64_t>(loop.getInitArgs().size());
    for (BlockArgument argument : loop.getBody()->getArguments())
      homes[argument] = loopNode;
    readRegion(loop.getRegion(), loopNode);
  }
};

} // namespace

std::vector<LoopNode> loopsOf(ModuleOp schedule) {
  LoopReader reader;
  for (auto function : schedule.getOps<func::FuncOp>())
    if (attrOf<KernelAttr>(function))
      reader.readFunction(function);
  return std::move(reader.nodes);
}

} // namespace quern
