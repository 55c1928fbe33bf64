//===- Memory.cpp - Accesses of a CPU to memory ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Build/KernelBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

Value KernelBuilder::load(Value memref, Index at, int64_t lanes, Value mask) {
  auto type = VectorType::get({lanes}, elementOf(memref));
  if (mask)
    return create<vector::MaskedLoadOp>(type, memref, ValueRange{index(at)}, mask, zeros(type));
  return create<vector::LoadOp>(type, memref, ValueRange{index(at)});
}

void KernelBuilder::store(Value vector, Value memref, Index at, Value mask, bool streamed) {
  if (mask) {
    create<vector::MaskedStoreOp>(memref, ValueRange{index(at)}, mask, vector);
    return;
  }
  auto type = cast<VectorType>(vector.getType());
  const int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  create<vector::StoreOp>(vector, memref, ValueRange{index(at)}, streamed,
                          streamed ? llvm::MaybeAlign(bytes) : llvm::MaybeAlign());
}

/// Returns the indices of an access: none if the memref has rank 0.
static SmallVector<Value, 1> indicesOf(Value memref, Value at) {
  return cast<MemRefType>(memref.getType()).getRank() ? SmallVector<Value, 1>{at} : SmallVector<Value, 1>();
}

Value KernelBuilder::loadScalar(Value memref, Index at) {
  return create<memref::LoadOp>(memref, indicesOf(memref, index(at)));
}

void KernelBuilder::storeScalar(Value element, Value memref, Index at) {
  create<memref::StoreOp>(element, memref, indicesOf(memref, index(at)));
}

void KernelBuilder::prefetch(Value memref, Index at, int32_t locality, bool isWrite) {
  create<memref::PrefetchOp>(memref, ValueRange{index(at)}, isWrite, locality, /*isDataCache=*/true);
}

Value KernelBuilder::addressOf(Value memref, Index at) {
  Value start = create<memref::ExtractAlignedPointerAsIndexOp>(memref);
  return add(start, mul(at, elementOf(memref).getIntOrFloatBitWidth() / 8));
}

Value KernelBuilder::frameBuffer(int64_t elements, Type element) {
  return atEntry([&] {
    return create<memref::AllocaOp>(MemRefType::get({elements}, element), b.getI64IntegerAttr(64)).getResult();
  });
}
