//===- Addressing.cpp - Addresses, loads, stores and partial vectors -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Full vectors of unit stride are plain loads and stores; partial ones are masked if the target masks their type. Other
// accesses (strided lanes, targets without masks) move lane by lane through one vector of scratch. No access touches a
// lane that does not exist.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

VectorEmitter::Level VectorEmitter::levelOf(const Access &access) {
  bool isInvariant = vectors.wholeRows ? vectors.isSameForGroups(access) : access.isInvariant();
  return isInvariant ? Level::Kernel : RowEmitter::levelOf(access);
}

bool VectorEmitter::slotsDiffer(const Access &access) {
  return vectors.lanesOf(access) != LaneKind::Same || (vectors.alongRow() && !access.row.isLinear());
}

Value VectorEmitter::placeByOther(const Access &access, int64_t slot) {
  int64_t indices = vectors.alongRow() ? offsetOf(slot) : slot * vectors.lanes;
  if (vectors.alongRow() && !access.row.isLinear()) {
    std::optional<int64_t> apart = access.row.advance(indices, vectors.lanes);
    if (!apart)
      return Value();
    Value first = place(access, 0);
    return add(first, index(*apart));
  }
  Value first = place(access, 0);
  const Size step = vectors.alongRow() ? access.row.step() : access.strides[vectors.vectorDim];
  if (Value reach = lanesOf(slot).reach)
    return add(first, mul(reach, step));
  return add(first, mul(indices, step));
}

/// Returns the index of every lane: along the row, or along the vector dim.
Value VectorEmitter::numberOf(const Access &access, int64_t slot) {
  const VectorType type = vec(b.getI32Type());
  auto inAllLanes = [&](Value at) -> Value {
    Value number = isa<IndexType>(at.getType()) ? create<arith::IndexCastOp>(b.getI32Type(), at).getResult() : at;
    return create<vector::BroadcastOp>(type, number);
  };
  auto numbers = [&](auto numberOf) {
    SmallVector<int32_t> all;
    for (int64_t lane = 0; lane < vectors.lanes; ++lane)
      all.push_back(static_cast<int32_t>(numberOf(lane)));
    return constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(all)));
  };
  auto everywhere = [&](int64_t number) { return numbers([&](int64_t) { return number; }); };
  Value base = rowBase(access);
  if (!vectors.alongRow()) { // all lanes have the same row position
    if (!access.row.isStill())
      base = add(base, addressAt(position, access.row, positionAlign));
    const int64_t step = access.strides[vectors.vectorDim].known();
    Value own = numbers([&](int64_t lane) { return (slot * vectors.lanes + lane) * step; });
    return create<arith::AddIOp>(inAllLanes(base), own);
  }
  Value first = inAllLanes(positionOf(slot)),
        at = create<arith::AddIOp>(first, numbers([](int64_t lane) { return lane; }));
  Value sum = inAllLanes(base);
  for (const Digit &digit : access.row.digits()) {
    Value term = at;
    if (digit.unit > 1)
      term = create<arith::DivUIOp>(term, everywhere(digit.unit));
    if (digit.modulus)
      term = create<arith::RemUIOp>(term, everywhere(digit.modulus));
    if (digit.stride != 1)
      term = create<arith::MulIOp>(term, everywhere(digit.stride));
    sum = create<arith::AddIOp>(sum, term);
  }
  return sum;
}

VectorEmitter::Values VectorEmitter::loadSlot(const Access &access, int64_t &slot) {
  Value memref = kernel.arguments.lookup(access.base);
  auto type = cast<MemRefType>(memref.getType());
  VectorType vector = vec(type.getElementType());
  LaneKind kind = vectors.lanesOf(access);
  const SlotLanes &lanes = lanesOf(slot);
  if (kind == LaneKind::Same || lanes.isScalar()) {
    const Index at = access.isInvariant() ? Index(access.offset) : Index(place(access, slot));
    return {create<vector::BroadcastOp>(vector, loadScalar(memref, at))};
  }
  if (kind == LaneKind::Strided)
    return {gatherLanes(access, slot)};
  if (kind == LaneKind::Pieces)
    return {joinPieces(access, slot)};
  Value at = place(access, slot);
  auto whole = [&] { return Values{load(memref, at, vectors.lanes)}; };
  if (lanes.all())
    return whole();
  if (vectors.takesMask(type.getElementType()))
    return {load(memref, at, vectors.lanes, maskOf(lanes))};
  auto byLanes = [&] { return Values{gatherLanes(access, slot)}; };
  return lanes.isFull ? chooseValues(lanes.isFull, vector, whole, byLanes) : byLanes();
}

void VectorEmitter::storeSlot(const Access &access, int64_t slot, Value v) {
  Value memref = kernel.arguments.lookupOrNull(access.base);
  if (!memref)
    return; // an intermediate of an op that also writes an argument
  auto type = cast<MemRefType>(memref.getType());
  LaneKind kind = vectors.lanesOf(access);
  const SlotLanes &lanes = lanesOf(slot);
  const Index at = type.getRank() ? Index(place(access, slot)) : 0;
  if (kind == LaneKind::Same || lanes.isScalar()) {
    storeScalar(create<vector::ExtractOp>(v, 0), memref, at);
  } else if (kind == LaneKind::Strided) {
    scatterLanes(access, slot, v);
  } else if (kind == LaneKind::Pieces) {
    storePieces(access, slot, v);
  } else if (lanes.all()) {
    store(v, memref, at, /*mask=*/{}, streaming && plan.isStreamed(access));
  } else if (vectors.takesMask(type.getElementType())) {
    store(v, memref, at, maskOf(lanes));
  } else if (!lanes.isFull) {
    scatterLanes(access, slot, v);
  } else {
    choose(lanes.isFull, [&] { store(v, memref, at); }, [&] { scatterLanes(access, slot, v); });
  }
}

void VectorEmitter::storeRowOutputs(ArrayRef<RowOutput> outputs) {
  for (const RowOutput &output : outputs)
    storeSlot(*output.access, output.slot, output.value);
}

void VectorEmitter::forEachLane(const Access &access, int64_t slot, function_ref<void(Value, Value)> f, bool) {
  const SlotLanes &lanes = lanesOf(slot);
  Value count = lanes.all() ? index(vectors.lanes) : lanes.fixed >= 0 ? index(lanes.fixed) : lanes.count;
  bool acrossBlocks = vectors.alongRow() && !access.row.isLinear();
  Value base = acrossBlocks ? rowBase(access) : place(access, slot);
  Value first = !acrossBlocks ? Value() : slot ? add(position, index(slot * vectors.lanes)) : position;
  const Size stride = vectors.alongRow() ? access.row.step() : access.strides[vectors.vectorDim];
  forRange(index(0), count, [&](Value lane) {
    f(lane, add(base, acrossBlocks ? addressAt(add(first, lane), access.row) : mul(lane, stride)));
  });
}

Value VectorEmitter::gatherLanes(const Access &access, int64_t slot) {
  Type element = access.elementType();
  Value buffer = scratchView(plan.scratch.laneBuffer, vectors.lanes, element),
        memref = kernel.arguments.lookup(access.base);
  forEachLane(access, slot, [&](Value lane, Value at) { storeScalar(loadScalar(memref, at), buffer, lane); });
  return load(buffer, 0, vectors.lanes);
}

void VectorEmitter::scatterLanes(const Access &access, int64_t slot, Value v) {
  Value buffer = scratchView(plan.scratch.laneBuffer, vectors.lanes, access.elementType()),
        memref = kernel.arguments.lookup(access.base);
  store(v, buffer, 0);
  forEachLane(
      access, slot, [&](Value lane, Value at) { storeScalar(loadScalar(buffer, lane), memref, at); },
      /*once=*/true);
}

Value VectorEmitter::scratchView(int64_t offset, int64_t length, Type element) {
  Value &view = scratchViews[{offset, element.getAsOpaquePointer()}];
  if (!view) {
    Value at = index(offset);
    view = atEntry([&] {
      return create<memref::ViewOp>(MemRefType::get({length}, element), kernel.scratch, at, ValueRange()).getResult();
    });
  }
  return view;
}

const VectorEmitter::SlotLanes &VectorEmitter::lanesOf(int64_t slot) {
  return slot < static_cast<int64_t>(partial.size()) ? partial[slot] : everyLane;
}

Value VectorEmitter::maskOf(const SlotLanes &lanes) { return lanes.fixed >= 0 ? prefixMask(lanes.fixed) : lanes.mask; }

Value VectorEmitter::inRow(int64_t slot) {
  return vectors.alongRow() && !lanesOf(slot).all() ? maskOf(lanesOf(slot)) : Value();
}
