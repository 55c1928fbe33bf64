//===- SharedBuffers.cpp - Memory between the problems of an execution ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Transforms/Packed/SharedBuffers.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;

namespace {

/// Returns the bytes from the buffer's start to the end of a static memref.
int64_t bytesOf(MemRefType type) {
  auto [strides, last] = type.getStridesAndOffset();
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    last += (extent - 1) * stride;
  return (last + 1) * type.getElementTypeBitWidth() / 8;
}

/// Returns the byte offset of a shared buffer; nullopt for other arguments.
std::optional<int64_t> offsetOf(func::FuncOp function, unsigned argument) {
  auto offset = function.getArgAttrOfType<IntegerAttr>(argument, attr::shared);
  return offset ? std::optional(offset.getInt()) : std::nullopt;
}

int64_t endOfBuffersIn(func::FuncOp function) {
  int64_t end = 0;
  for (BlockArgument argument : function.getArguments())
    if (std::optional<int64_t> offset = offsetOf(function, argument.getArgNumber()))
      end = std::max(end, *offset + bytesOf(cast<MemRefType>(argument.getType())));
  return end;
}

} // namespace

int64_t quern::endOfSharedBuffers(ModuleOp module) {
  int64_t end = 0;
  for (auto function : module.getOps<func::FuncOp>())
    end = std::max(end, endOfBuffersIn(function));
  return static_cast<int64_t>(llvm::alignTo(end, 64));
}

void quern::bindSharedBuffers(func::FuncOp kernel, int64_t end) {
  int64_t bytes = endOfBuffersIn(kernel);
  if (!bytes)
    return;
  llvm::BitVector bound(kernel.getNumArguments());
  int sharedArgument = -1;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    bound[i] = offsetOf(kernel, i).has_value();
    if (kernel.getArgAttrOfType<UnitAttr>(i, attr::shared))
      sharedArgument = static_cast<int>(i);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  auto flat = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  if (sharedArgument < 0) {
    sharedArgument = bound.find_last() + 1;
    (void)kernel.insertArgument(sharedArgument, flat,
                                builder.getDictionaryAttr(builder.getNamedAttr(attr::shared, builder.getUnitAttr())),
                                loc);
    bound.resize(kernel.getNumArguments());
    // Arguments after the new one have moved, but none of them is bound.
  } else {
    int64_t rest = attrOf<KernelAttr>(kernel).getSharedBytes();
    Value all = kernel.getArgument(sharedArgument),
          view = memref::ViewOp::create(builder, loc, flat, all, index(end), index(rest));
    all.replaceAllUsesExcept(view, view.getDefiningOp());
    bytes = end + rest;
  }
  for (unsigned i : bound.set_bits()) {
    Value buffer = kernel.getArgument(i);
    auto type = cast<MemRefType>(buffer.getType());
    auto viewAs = [&](MemRefType as) -> Value {
      return memref::ViewOp::create(builder, loc, as, kernel.getArgument(sharedArgument), index(*offsetOf(kernel, i)),
                                    ValueRange());
    };
    if (type.getLayout().isIdentity()) {
      buffer.replaceAllUsesWith(viewAs(type));
      continue;
    }
    auto [strides, offset] = type.getStridesAndOffset(); // only naive lowering creates such types
    const int64_t elements = bytesOf(type) * 8 / type.getElementTypeBitWidth();
    buffer.replaceAllUsesWith(memref::ReinterpretCastOp::create(
        builder, loc, type, viewAs(MemRefType::get({elements}, type.getElementType())), offset, type.getShape(),
        strides));
  }
  (void)kernel.eraseArguments(bound);
  kernel->setAttr(KernelAttr::name, attrOf<KernelAttr>(kernel).withSharedBytes(bytes));
}
