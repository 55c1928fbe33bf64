//===- Sizes.cpp - Numbers that replace open sizes ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Sizes.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace quern {
namespace {

/// Removes the numbers of one type from the front of `values` (dims, strides, offset) and returns the type with them.
FailureOr<MemRefType> closed(MemRefType type, ArrayRef<int64_t> &values) {
  auto [strides, offset] = type.getStridesAndOffset();
  bool hasLayout = !type.getLayout().isIdentity(), isShort = false;
  auto fill = [&](int64_t &size) {
    if (!ShapedType::isDynamic(size))
      return;
    isShort |= values.empty();
    size = isShort ? 0 : values.front();
    values = values.drop_front(isShort ? 0 : 1);
  };
  SmallVector<int64_t> shape(type.getShape());
  llvm::for_each(shape, fill);
  if (hasLayout) {
    llvm::for_each(strides, fill);
    fill(offset);
  }
  if (isShort)
    return failure();
  MemRefType::Builder builder(type);
  builder.setShape(shape);
  if (hasLayout)
    builder.setLayout(StridedLayoutAttr::get(type.getContext(), offset, strides));
  return MemRefType(builder);
}

/// Updates the ops that depend on the types of the arguments.
void closeBody(func::FuncOp problem) {
  for (Operation &op : llvm::make_early_inc_range(problem.getBody().front())) {
    OpBuilder builder(&op);
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto type = cast<MemRefType>(dim.getSource().getType());
      if (auto which = dim.getConstantIndex(); which && !type.isDynamicDim(static_cast<unsigned>(*which)))
        dim.replaceAllUsesWith(
            arith::ConstantIndexOp::create(builder, op.getLoc(), type.getDimSize(static_cast<unsigned>(*which)))
                .getResult());
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      SmallVector<int64_t> shape;
      for (OpFoldResult size : alloc.getMixedSizes())
        shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
      if (!ShapedType::isDynamicShape(shape) && alloc.getType().getNumDynamicDims())
        alloc.replaceAllUsesWith(
            memref::AllocOp::create(builder, op.getLoc(), MemRefType::Builder(alloc.getType()).setShape(shape))
                .getResult());
    } else if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      auto numbers = [&](ArrayRef<OpFoldResult> mixed) {
        return llvm::map_to_vector(mixed, [&](OpFoldResult size) -> OpFoldResult {
          std::optional<int64_t> number = getConstantIntValue(size);
          return number ? OpFoldResult(builder.getIndexAttr(*number)) : size;
        });
      };
      view.replaceAllUsesWith(memref::SubViewOp::create(builder, op.getLoc(), view.getSource(),
                                                        numbers(view.getMixedOffsets()), numbers(view.getMixedSizes()),
                                                        numbers(view.getMixedStrides()))
                                  .getResult());
    }
    if (isa<memref::DimOp, memref::AllocOp, memref::SubViewOp>(op) && op.use_empty())
      op.erase();
  }
}

} // namespace

FailureOr<RuntimeSizes> closeSizes(ModuleOp module, ArrayRef<int64_t> values) {
  RuntimeSizes sizes{values.vec(), {}};
  for (auto problem : module.getOps<func::FuncOp>()) {
    if (isKernel(problem))
      continue;
    ArrayRef<int64_t> left = values;
    for (BlockArgument argument : problem.getArguments()) {
      FailureOr<MemRefType> type = closed(cast<MemRefType>(argument.getType()), left);
      if (failed(type))
        return problem.emitError("sizes: @") << problem.getName() << " has more than " << values.size();
      argument.setType(*type);
      auto name = problem.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::arg);
      sizes.types[name ? name.str() : ("arg" + Twine(argument.getArgNumber())).str()] = *type;
    }
    if (!left.empty())
      return problem.emitError("sizes: @") << problem.getName() << " has fewer than " << values.size();
    problem.setFunctionType(FunctionType::get(module.getContext(), problem.getBody().getArgumentTypes(), {}));
    closeBody(problem);
  }
  return sizes;
}

} // namespace quern
