//===- Addressing.cpp - Addresses, loads, stores and partial vectors -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Full vectors of unit stride are plain loads and stores; partial ones are masked where the target masks their type. Everything else
// (strided lanes, targets without masks) moves lane by lane through one vector of scratch. No access touches a lane that does not exist.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::rows;

/// Where index `at` of a loop lies, from the loop's start. It is a multiple of `align`.
Value RowEmitter::walk(Value at, const Walk &way, int64_t align) {
  Value sum;
  for (const Digit &digit : way.digits()) {
    if (digit.modulus && align % digit.end() == 0)
      continue;
    int64_t unit = digit.unit, stride = digit.stride;
    if (!digit.modulus && align % unit == 0 && stride % unit == 0)
      stride /= std::exchange(unit, 1);
    Value term = unit == 1 ? at : create<arith::DivUIOp>(at, index(unit)).getResult();
    if (digit.modulus)
      term = create<arith::RemUIOp>(term, index(digit.modulus));
    term = scaled(term, stride);
    sum = sum ? add(sum, term) : term;
  }
  return sum ? sum : index(0);
}

/// offset + the parallel part of the address; one value per row for all operands that share it.
Value RowEmitter::rowBase(const Access &access) {
  Value &base = rowBases[{access.offset, access.strides, access.curves}];
  if (!base)
    base = before(sweepLoop, [&] {
      Value sum = access.offset ? index(access.offset) : Value();
      for (auto [at, stride] : llvm::zip_equal(parallel, access.strides)) {
        if (!stride)
          continue;
        Value term = scaled(at, stride);
        sum = sum ? add(sum, term) : term;
      }
      for (auto &[dim, way] : access.curves) {
        Value term = walk(parallel[dim], way);
        sum = sum ? add(sum, term) : term;
      }
      return sum ? sum : index(0);
    });
  return base;
}

/// The address of a slot's first lane.
Value RowEmitter::place(const Access &access, int64_t slot) {
  bool acrossBlocks = plan.alongRow() && !access.row.isLinear();
  if (plan.lanesOf(access) == LaneKind::Same && !acrossBlocks)
    slot = 0;
  Value &known = places[{nullptr, access.offset, access.strides, access.curves, access.row, slot}];
  if (known)
    return known;
  int64_t indices = slot * plan.lanes * (plan.alongRow() ? depth : 1),
          step = plan.alongRow() ? access.row.step() : access.strides[plan.vectorDim];
  std::optional<int64_t> apart = acrossBlocks ? access.row.advance(indices, plan.lanes) : std::optional(indices * step);
  if (slot && apart) {
    Value first = place(access, 0);
    if (Value reach = plan.alongRow() ? Value() : lanesOf(slot).reach)
      return known = add(first, scaled(reach, step));
    return known = add(first, isOpen(step) ? scaled(index(indices), step) : index(*apart));
  }
  Value base = rowBase(access);
  if (access.row.isStill())
    return known = base;
  Value at = slot ? add(position, index(indices)) : position;
  return known = add(base, walk(at, access.row, depth * plan.runs));
}

/// A read at the outermost level at which it is invariant.
Value RowEmitter::read(const Access &access, int64_t slot) {
  bool rowInvariant = access.row.isStill();
  bool invariant = plan.wholeRows ? plan.isSameForGroups(access) : access.isInvariant();
  bool differs = plan.lanesOf(access) != LaneKind::Same || (plan.alongRow() && !access.row.isLinear());
  auto &cache = invariant ? kernelLoads : rowInvariant ? rowLoads : stepLoads;
  AddressKey key{access.base.getAsOpaquePointer(), access.offset, access.strides, access.curves, access.row, differs ? slot : 0};
  if (auto hit = cache.find(key); hit != cache.end())
    return hit->second;
  Operation *point = invariant ? rows.getOperation() : rowInvariant ? sweepLoop : nullptr;
  Value v = before(point, [&]() -> Value {
    const KeptRead *kept = rowInvariant ? nullptr : plan.keptReadOf(access);
    if (kept && currentSweep > kept->keptIn)
      return loadKept(kept->scratch, access.elementType(), slot);
    Value loaded = readLanes(access, slot);
    if (kept && currentSweep == kept->keptIn)
      storeKept(kept->scratch, slot, loaded);
    return loaded;
  });
  return cache[key] = v;
}

/// The even or the odd lanes of two vectors.
Value RowEmitter::readOfPair(const Access &access, int64_t slot) {
  Type element = access.elementType();
  int64_t even = slot & ~int64_t(1);
  Value &pair = stepPairs[{access.base.getAsOpaquePointer(), place(access, even).getAsOpaquePointer()}];
  if (!pair) {
    VectorType type = VectorType::get({2 * plan.lanes}, element);
    Value both = create<vector::LoadOp>(type, kernel.arguments.lookup(access.base), ValueRange{place(access, even)});
    pair = create<vector::DeinterleaveOp>(both).getRes1();
  }
  return pair.getDefiningOp()->getResult(slot - even);
}

Value RowEmitter::readLanes(const Access &access, int64_t slot) {
  Value memref = kernel.arguments.lookup(access.base);
  auto type = cast<MemRefType>(memref.getType());
  VectorType vector = vec(type.getElementType());
  LaneKind kind = plan.lanesOf(access);
  const Lanes &lanes = lanesOf(slot);
  if (plan.wholeRows && kind != LaneKind::Same)
    return readRows(access);
  if (kind == LaneKind::Same || lanes.isScalar()) {
    SmallVector<Value, 1> at;
    if (type.getRank())
      at.push_back(access.isInvariant() ? index(access.offset) : place(access, slot));
    return create<vector::BroadcastOp>(vector, create<memref::LoadOp>(memref, at));
  }
  if (kind == LaneKind::Strided)
    return gatherLanes(access, slot);
  if (kind == LaneKind::Pieces)
    return joinPieces(access, slot);
  if (lanes.all() && (slot | 1) < pairedSlots)
    return readOfPair(access, slot);
  Value at = place(access, slot);
  if (lanes.all())
    return create<vector::LoadOp>(vector, memref, ValueRange{at});
  if (plan.takesMask(type.getElementType()))
    return create<vector::MaskedLoadOp>(vector, memref, ValueRange{at}, maskOf(lanes), splat(b.getZeroAttr(type.getElementType())));
  if (!lanes.isFull)
    return gatherLanes(access, slot);
  auto choice = create<scf::IfOp>(TypeRange{vector}, lanes.isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  create<scf::YieldOp>(create<vector::LoadOp>(vector, memref, ValueRange{at}).getResult());
  b.setInsertionPointToStart(choice.elseBlock());
  create<scf::YieldOp>(gatherLanes(access, slot));
  return choice.getResult(0);
}

void RowEmitter::write(const Access &access, int64_t slot, Value v) {
  Value memref = kernel.arguments.lookupOrNull(access.base);
  if (!memref)
    return; // an intermediate beside an argument in an op of several results
  auto type = cast<MemRefType>(memref.getType());
  LaneKind kind = plan.lanesOf(access);
  const Lanes &lanes = lanesOf(slot);
  if (plan.wholeRows && kind != LaneKind::Same)
    return writeRows(access, v);
  SmallVector<Value, 1> at;
  if (type.getRank())
    at.push_back(place(access, slot));
  if (kind == LaneKind::Same || lanes.isScalar()) {
    create<memref::StoreOp>(create<vector::ExtractOp>(v, 0), memref, at);
  } else if (kind == LaneKind::Strided) {
    scatterLanes(access, slot, v);
  } else if (kind == LaneKind::Pieces) {
    storePieces(access, slot, v);
  } else if (lanes.all()) {
    bool streamed = streaming && plan.isStreamed(access);
    int64_t vectorBytes = plan.lanes * type.getElementTypeBitWidth() / 8;
    create<vector::StoreOp>(v, memref, at, streamed, streamed ? llvm::MaybeAlign(vectorBytes) : llvm::MaybeAlign());
  } else if (plan.takesMask(type.getElementType())) {
    create<vector::MaskedStoreOp>(memref, at, maskOf(lanes), v);
  } else if (!lanes.isFull) {
    scatterLanes(access, slot, v);
  } else {
    auto choice = create<scf::IfOp>(lanes.isFull, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    create<vector::StoreOp>(v, memref, at);
    b.setInsertionPointToStart(choice.elseBlock());
    scatterLanes(access, slot, v);
  }
}

/// A loop over the lanes of a slot that exist; f(lane, address) writes its body.
template <typename F> void RowEmitter::forEachLane(const Access &access, int64_t slot, F f, bool once) {
  if (plan.wholeRows)
    return forEachRowLane(access, f, once);
  const Lanes &lanes = lanesOf(slot);
  Value count = lanes.all() ? index(plan.lanes) : lanes.fixed >= 0 ? index(lanes.fixed) : lanes.count;
  bool acrossBlocks = plan.alongRow() && !access.row.isLinear();
  Value base = acrossBlocks ? rowBase(access) : place(access, slot);
  Value first = !acrossBlocks ? Value() : slot ? add(position, index(slot * plan.lanes)) : position;
  int64_t stride = plan.alongRow() ? access.row.step() : access.strides[plan.vectorDim];
  auto loop = create<scf::ForOp>(index(0), count, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  f(lane, add(base, acrossBlocks ? walk(add(first, lane), access.row) : scaled(lane, stride)));
}

Value RowEmitter::gatherLanes(const Access &access, int64_t slot) {
  Type element = access.elementType();
  Value buffer = scratchView(plan.laneBuffer, plan.lanes, element), memref = kernel.arguments.lookup(access.base);
  forEachLane(access, slot, [&](Value lane, Value at) {
    create<memref::StoreOp>(create<memref::LoadOp>(memref, ValueRange{at}), buffer, ValueRange{lane});
  });
  return create<vector::LoadOp>(vec(element), buffer, ValueRange{index(0)});
}

void RowEmitter::scatterLanes(const Access &access, int64_t slot, Value v) {
  Value buffer = scratchView(plan.laneBuffer, plan.lanes, access.elementType()), memref = kernel.arguments.lookup(access.base);
  create<vector::StoreOp>(v, buffer, ValueRange{index(0)});
  forEachLane(
      access, slot,
      [&](Value lane, Value at) { create<memref::StoreOp>(create<memref::LoadOp>(buffer, ValueRange{lane}), memref, ValueRange{at}); },
      /*once=*/true);
}

Value RowEmitter::scratchView(int64_t offset, int64_t length, Type element) {
  Value &view = scratchViews[{offset, element.getAsOpaquePointer()}];
  if (!view) {
    Value at = index(offset);
    view =
        atEntry([&] { return create<memref::ViewOp>(MemRefType::get({length}, element), kernel.scratch, at, ValueRange()).getResult(); });
  }
  return view;
}

/// Kept values lie by (row position, slot).
Value RowEmitter::keptPlace(int64_t slot) {
  Value &known = keptPlaces[slot];
  if (known)
    return known;
  if (slot) {
    Value first = keptPlace(0);
    return known = add(first, index(slot * plan.lanes));
  }
  return known = plan.alongRow() ? position : scaled(position, columns * plan.lanes);
}

Value RowEmitter::loadKept(int64_t offset, Type element, int64_t slot) {
  int64_t length = plan.alongRow() ? llvm::alignTo(chain.rowExtent, plan.lanes) : chain.rowExtent * columns * plan.lanes;
  Value at = keptPlace(slot);
  return create<vector::LoadOp>(vec(element), scratchView(offset, length, element), ValueRange{at});
}

void RowEmitter::storeKept(int64_t offset, int64_t slot, Value v) {
  Type element = cast<VectorType>(v.getType()).getElementType();
  int64_t length = plan.alongRow() ? llvm::alignTo(chain.rowExtent, plan.lanes) : chain.rowExtent * columns * plan.lanes;
  Value at = keptPlace(slot);
  create<vector::StoreOp>(v, scratchView(offset, length, element), ValueRange{at});
}

const RowEmitter::Lanes &RowEmitter::lanesOf(int64_t slot) {
  return slot < static_cast<int64_t>(partial.size()) ? partial[slot] : everyLane;
}

Value RowEmitter::maskOf(const Lanes &lanes) { return lanes.fixed >= 0 ? prefixMask(lanes.fixed) : lanes.mask; }
