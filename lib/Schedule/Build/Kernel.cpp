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

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

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

void IterationSpace::addLoop(Size extent, int64_t step) {
  if (extent.isOpen())
    factors.append({extent.openIndex(), step});
  else
    number *= llvm::divideCeil(extent.known(), step);
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
  auto factors = traits.space.factors.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(traits.space.factors);
  auto nsPerIteration = std::max<int64_t>(1, static_cast<int64_t>(traits.nsPerIteration));
  function->setAttr(KernelAttr::name, KernelAttr::get(b.getContext(), factors, traits.groupSize, nsPerIteration,
                                                      traits.plan, problem.getName(), traits.scratchBytes,
                                                      traits.sharedBytes, traits.space.number, traits.subGroupSize));
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
