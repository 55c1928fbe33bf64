//===- FrameBuffers.cpp - Limiting the stack that a kernel uses -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Build/FrameBuffers.h"

#include "IR/QuernDialect.h"
#include "Schedule/Build/CpuMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace quern;

static constexpr int64_t maxFrameBytes = 4096;

static int64_t bytesOf(memref::AllocaOp buffer) {
  const MemRefType type = buffer.getType();
  const int64_t bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(type.getNumElements() * bits, 8), lineBytes));
}

/// Adds the scratch argument, which precedes the sizes, the begin and the end of the iterations.
static Value addScratch(func::FuncOp kernel, int64_t bytes) {
  unsigned at = kernel.getNumArguments() - 2;
  if (kernel.getArgAttr(at - 1, attr::sizes))
    --at;
  Builder builder(kernel.getContext());
  const auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  const NamedAttribute scratch = builder.getNamedAttr(attr::scratch, builder.getUnitAttr());
  (void)kernel.insertArgument(at, type, builder.getDictionaryAttr(scratch), kernel.getLoc());
  kernel->setAttr(KernelAttr::name, attrOf<KernelAttr>(kernel).withScratchBytes(bytes));
  return kernel.getArgument(at);
}

void quern::limitFrame(func::FuncOp kernel) {
  SmallVector<memref::AllocaOp> buffers;
  int64_t bytes = 0;
  kernel.walk([&](memref::AllocaOp buffer) {
    buffers.push_back(buffer);
    bytes += bytesOf(buffer);
  });
  if (bytes <= maxFrameBytes)
    return;
  Value scratch = addScratch(kernel, bytes);
  int64_t offset = 0;
  for (memref::AllocaOp buffer : buffers) {
    OpBuilder builder(buffer);
    Value at = arith::ConstantIndexOp::create(builder, buffer.getLoc(), offset);
    Value view = memref::ViewOp::create(builder, buffer.getLoc(), buffer.getType(), scratch, at, ValueRange());
    buffer.replaceAllUsesWith(view);
    offset += bytesOf(buffer);
    buffer.erase();
  }
}
