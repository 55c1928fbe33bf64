//===- Kernel.cpp - The function that a recipe writes --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A buffer with a static layout keeps its length, which bounds accesses to it; other buffers have an unknown length.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Kernel.h"

#include "IR/QuernDialect.h"
#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

static MemRefType flatTypeOf(MemRefType memref) {
  auto [strides, size] = stridesOf(memref);
  if (!memref.hasStaticShape() || ShapedType::isDynamic(size) || llvm::any_of(strides, ShapedType::isDynamic))
    return MemRefType::get({ShapedType::kDynamic}, memref.getElementType());
  if (!memref.getRank())
    return memref;
  for (auto [extent, stride] : llvm::zip_equal(memref.getShape(), strides))
    size += (extent - 1) * stride;
  return MemRefType::get({size + 1}, memref.getElementType());
}

KernelFunction quern::makeKernel(func::FuncOp problem, Operation *after, const KernelTraits &traits) {
  OpBuilder b(problem.getContext());
  SmallVector<Type> types;
  for (Type type : problem.getArgumentTypes())
    types.push_back(flatTypeOf(cast<MemRefType>(type)));
  types.append((traits.sharedBytes ? 1 : 0) + (traits.scratchBytes ? 1 : 0),
               MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  const bool hasSizes = ArgumentSizes(problem).count() > 0;
  if (hasSizes)
    types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getIndexType()));
  if (!traits.groupSize)
    types.append(2, b.getIndexType());
  b.setInsertionPointAfter(after);
  KernelFunction kernel{
      func::FuncOp::create(b, problem.getLoc(), traits.name, b.getFunctionType(types, {})), {}, {}, {}, {}};
  func::FuncOp function = kernel.function;
  auto factors = traits.factors.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(traits.factors);
  auto nsPerIteration = std::max<int64_t>(1, static_cast<int64_t>(traits.nsPerIteration));
  function->setAttr(KernelAttr::name, KernelAttr::get(b.getContext(), factors, traits.groupSize, nsPerIteration,
                                                      traits.plan, problem.getName(), traits.scratchBytes,
                                                      traits.sharedBytes, traits.space, traits.subGroupSize));
  function.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(problem.getArguments())) {
    kernel.arguments.map(argument, function.getArgument(i));
    if (DictionaryAttr attributes = problem.getArgAttrDict(i))
      function.setArgAttrs(i, attributes);
  }
  unsigned next = problem.getNumArguments();
  auto takeIf = [&](bool takes, StringRef what) -> Value {
    if (!takes)
      return Value();
    function.setArgAttr(next, what, b.getUnitAttr());
    return function.getArgument(next++);
  };
  kernel.shared = takeIf(traits.sharedBytes, attr::shared);
  kernel.scratch = takeIf(traits.scratchBytes, attr::scratch);
  kernel.sizes = takeIf(hasSizes, attr::sizes);
  return kernel;
}

void quern::clonePrologue(OpBuilder &builder, KernelFunction &kernel, func::FuncOp problem,
                          ArrayRef<Operation *> prologue, llvm::function_ref<Value(Size)> index) {
  for (Operation *op : prologue) {
    for (Value v : op->getOperands())
      if (!kernel.arguments.contains(v))
        builder.clone(*v.getDefiningOp(), kernel.arguments); // a constant
    auto load = dyn_cast<memref::LoadOp>(op);
    bool moves = load && load.getMemRefType().getRank() &&
                 (load.getMemRefType().getRank() > 1 || !load.getMemRefType().getLayout().isIdentity());
    if (!moves) {
      builder.clone(*op, kernel.arguments);
      continue;
    }
    // The memref becomes flat, so the load's indices are linearized.
    ArgumentSizes::Layout layout = ArgumentSizes(problem).layoutOf(load.getMemRef());
    Value at = index(layout.offset);
    for (auto [i, stride] : llvm::zip_equal(load.getIndices(), layout.strides)) {
      auto nsw = arith::IntegerOverflowFlags::nsw;
      Value step = arith::MulIOp::create(builder, load.getLoc(), kernel.arguments.lookup(i), index(stride), nsw);
      at = arith::AddIOp::create(builder, load.getLoc(), at, step, nsw);
    }
    Value moved = memref::LoadOp::create(builder, load.getLoc(), kernel.arguments.lookup(load.getMemRef()), at);
    kernel.arguments.map(load.getResult(), moved);
  }
}

void quern::choose(OpBuilder &builder, Location loc, Value condition, function_ref<void()> then,
                   function_ref<void()> otherwise) {
  if (!condition)
    return then();
  auto choice = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(choice.elseBlock());
  otherwise();
}
