//===- Boxes.cpp - Short rows in group memory -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows that are held by work-items and contiguous in memory form one range for a group. Neighboring work-items copy
// neighboring elements into group memory, where each work-item finds its row, and results are copied back in the same
// way. Whole cache lines are thus read and written once. Rows in group memory are an odd number of banks from each
// other.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns the box through which an operand is accessed; null if it is accessed directly.
DeviceRowEmitter::Box *DeviceRowEmitter::boxOf(const Access &access, bool isWritten) {
  auto &boxes = isWritten ? writtenBoxed : readBoxed;
  auto *found = llvm::find_if(
      boxes, [&](const Box &box) { return box.access->base == access.base && box.access->sameAddress(access); });
  return plan.isBoxed && found != boxes.end() ? found : nullptr;
}

void DeviceRowEmitter::makeBoxes() {
  auto make = [&](const Access &access, bool isWritten) {
    if (!plan.isInBox(access) || boxOf(access, isWritten))
      return;
    Type element = access.elementType();
    int64_t pitch = plan.boxPitch(element);
    Value memory = groupMemory(b, kernel, plan.rows * pitch, groupMemoryType(element), memories++);
    (isWritten ? writtenBoxed : readBoxed).push_back({&access, memory, pitch});
  };
  for (Stage &stage : chain.stages) {
    for (const Access &access : stage.ins)
      if (access.isMemoryRead())
        make(access, /*isWritten=*/false);
    for (const Access &access : stage.outs)
      if (stage.writesArgument)
        make(access, /*isWritten=*/true);
  }
}

/// Copies between memory and group memory; each work-item copies as many elements as a row has.
void DeviceRowEmitter::moveBox(const Box &box, bool isWritten) {
  const int64_t length = chain.rowExtent.known();
  Type type = b.getI32Type(), element = box.access->elementType();
  Value memref = kernel.arguments.lookup(box.access->base), mine = create<arith::IndexCastUIOp>(type, local);
  Value start = add(mul(group, plan.rows * length), index(box.access->offset));
  for (int64_t i = 0; i < length; ++i) {
    Value at = add(mine, like(mine, i * plan.group));
    Value row = create<arith::DivUIOp>(at, like(at, length));
    Value inMemory = create<arith::IndexCastUIOp>(b.getIndexType(), add(at, mul(row, box.pitch - length)));
    at = create<arith::IndexCastUIOp>(b.getIndexType(), at);
    Value exists;
    if (plan.count % plan.rows) {
      Value inRun = add(mul(group, plan.rows * length), at);
      exists = create<arith::CmpIOp>(arith::CmpIPredicate::ult, inRun, index(plan.count * length));
    }
    Value outside = add(start, at);
    choose(exists, [&] {
      Value v = isWritten ? loadScalar(box.memory, inMemory) : loadScalar(memref, outside);
      Type wanted = isWritten ? element : cast<MemRefType>(box.memory.getType()).getElementType();
      if (v.getType() != wanted)
        v = create<arith::BitcastOp>(wanted, v);
      isWritten ? storeScalar(v, memref, outside) : storeScalar(v, box.memory, inMemory);
    });
  }
}

void DeviceRowEmitter::readBoxes() {
  makeBoxes();
  for (const Box &box : readBoxed)
    moveBox(box, /*isWritten=*/false);
  create<gpu::BarrierOp>();
}

void DeviceRowEmitter::writeBoxes() {
  create<gpu::BarrierOp>();
  for (const Box &box : writtenBoxed)
    moveBox(box, /*isWritten=*/true);
}

Value DeviceRowEmitter::loadBoxed(const Box &box, int64_t slot) {
  Value v = loadScalar(box.memory, add(mul(local, box.pitch), index(slot)));
  Type element = box.access->elementType();
  return v.getType() == element ? v : create<arith::BitcastOp>(element, v).getResult();
}

void DeviceRowEmitter::storeBoxed(const Box &box, int64_t slot, Value v) {
  Type kept = cast<MemRefType>(box.memory.getType()).getElementType();
  if (v.getType() != kept)
    v = create<arith::BitcastOp>(kept, v);
  storeScalar(v, box.memory, add(mul(local, box.pitch), index(slot)));
}
