//===- GroupMemory.cpp - Memory that the work-items of a group share -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Device/GroupMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

Type quern::groupMemoryType(Type element) {
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Type(IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth())) : element;
}

int64_t quern::addGroupMemory(int64_t bytes, int64_t elements, Type element) {
  return static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(bytes), 16)) +
         elements * static_cast<int64_t>(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

Value quern::groupMemory(OpBuilder &builder, KernelFunction &kernel, int64_t elements, Type element, int64_t number) {
  func::FuncOp function = kernel.function;
  std::string name = (function.getName() + "_shared" + Twine(number)).str();
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({elements}, element, MemRefLayoutAttrInterface(), space);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    memref::GlobalOp::create(builder, function.getLoc(), name, builder.getStringAttr("private"), type,
                             builder.getUnitAttr(),
                             /*constant=*/false, /*alignment=*/IntegerAttr());
  }
  return memref::GetGlobalOp::create(builder, function.getLoc(), type, name);
}
