//===- FillSizes.cpp - Replacement of open sizes by numbers ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oracle of a function with open sizes is the same function with known sizes, lowered loop by loop.
//
//===----------------------------------------------------------------------===//
#include "Functions/Functions.h"

#include "Functions/Canonicalize/Canonicalize.h"
#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace quern;

bool functions::fillSizes(func::FuncOp function, unsigned i, const TensorDesc &desc) {
  BlockArgument argument = function.getArgument(i);
  auto type = cast<MemRefType>(argument.getType());
  Result<TensorDesc> own = describe(type, "");
  if (!own || !desc.isPlain() || desc.hasRuntimeDims() || own->ndims != desc.ndims || own->dataType != desc.dataType)
    return false;
  auto fits = [](int64_t open, int64_t given) { return open == runtimeDim || open == given; };
  bool isFilled = fits(own->offset0, desc.offset0);
  for (int d = 0; d < desc.ndims; ++d)
    isFilled &= fits(own->dims[d], desc.dims[d]) && fits(own->strides[d], desc.strides[d]);
  if (!isFilled || type.getRank() == 0)
    return false;
  const ArrayRef<int64_t> dims(desc.dims, static_cast<size_t>(desc.ndims)),
      strides(desc.strides, static_cast<size_t>(desc.ndims));
  auto filled =
      MemRefType::get(dims, type.getElementType(), StridedLayoutAttr::get(type.getContext(), desc.offset0, strides));
  if (auto dense = MemRefType::get(dims, type.getElementType()); // the form that recipes match
      dense.getStridesAndOffset() == filled.getStridesAndOffset())
    filled = dense;
  argument.setType(filled);
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto cast = memref::CastOp::create(builder, function.getLoc(), type, argument);
  argument.replaceAllUsesExcept(cast, cast);
  function.setFunctionType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(), function.getResultTypes()));
  return true;
}

bool functions::fillNumber(func::FuncOp function, unsigned i, int64_t value) {
  bool isNumber = false;
  OpBuilder builder(function.getContext());
  for (Operation *user : llvm::to_vector(function.getArgument(i).getUsers()))
    if (auto load = dyn_cast<memref::LoadOp>(user); load && load.getType().isInteger(32)) {
      builder.setInsertionPoint(load);
      Value number =
          arith::ConstantOp::create(builder, load.getLoc(), builder.getI32IntegerAttr(static_cast<int32_t>(value)));
      load.replaceAllUsesWith(number);
      load.erase();
      isNumber = true;
    }
  return isNumber;
}

Result<void> functions::foldSizes(func::FuncOp function) {
  auto isOpen = [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      return false;
    const std::optional<Strides> layout = readStrides(memref);
    return !memref.hasStaticShape() || !layout || ShapedType::isDynamic(layout->offset) ||
           llvm::any_of(layout->strides, ShapedType::isDynamic);
  };
  auto isOpenView = [&](Operation &op) {
    return isa<memref::CastOp, memref::SubViewOp, memref::ExpandShapeOp>(op) &&
           llvm::any_of(op.getResultTypes(), isOpen);
  };
  if (llvm::none_of(function.getBody().front(), isOpenView))
    return {};
  PassManager passes(function.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createCanonicalizerPass());
  if (failed(passes.run(function)))
    return invalidArguments("the sizes and offsets of a function are inconsistent");
  computeHalfBytes(function);
  return {};
}

void functions::replaceEmpty(func::FuncOp function) {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    if (llvm::is_contained(type.getShape(), 0) && argument.use_empty())
      argument.setType(MemRefType::get({1}, type.getElementType()));
  }
  function.setFunctionType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(), function.getResultTypes()));
}
