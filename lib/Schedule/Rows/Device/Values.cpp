//===- Values.cpp - Values and addresses of a work-item ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Emitter.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Device/Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern::rows;

/// The results of a stage at one position: found in a cache or emitted here.
DeviceRowEmitter::Values DeviceRowEmitter::values(int i, int64_t slot) {
  Stage &stage = chain.stages[i];
  bool isOfRow = !stage.isElementwise();
  if (isOfRow)
    if (auto hit = rowValues.find(i); hit != rowValues.end())
      return hit->second;
  if (!isOfRow)
    if (auto hit = stepValues.find({i, slot}); hit != stepValues.end())
      return hit->second;
  Values results = before(isOfRow ? sweepLoop : nullptr, [&] {
    Values blockArguments;
    for (const Access &in : stage.ins)
      blockArguments.push_back(operand(in, slot));
    return emitBody(stage, blockArguments);
  });
  return isOfRow ? rowValues[i] = results : stepValues[{i, slot}] = results;
}

Value DeviceRowEmitter::operand(const Access &access, int64_t slot) {
  if (access.unread)
    return Value();
  if (access.isScalar())
    return captured(access.base);
  return access.producer >= 0 ? values(access.producer, slot)[access.result] : read(access, slot);
}

/// Of a reduction, the terms that the combiners add.
DeviceRowEmitter::Values DeviceRowEmitter::emitBody(Stage &stage, ArrayRef<Value> blockArguments) {
  auto termOf = [](Operation *, Value term, Value, ValueOf valueOf) { return valueOf(term); };
  return cloneBody(b, stage, blockArguments, {[&](Value v) { return captured(v); }, termOf, [](Operation *) {}});
}

/// Where index `at` of a loop lies, from the loop's start.
Value DeviceRowEmitter::walk(Value at, const Walk &way) {
  Value sum;
  for (const Digit &digit : way.digits()) {
    Value from = digit.shift ? add(at, like(at, digit.shift)) : at;
    Value term = digit.unit == 1 ? from : create<arith::DivUIOp>(from, like(at, digit.unit)).getResult();
    if (digit.modulus)
      term = create<arith::RemUIOp>(term, like(at, digit.modulus));
    term = scaled(term, digit.stride);
    sum = sum ? add(sum, term) : term;
  }
  return sum ? sum : index(0);
}

/// offset + the parallel part of the address; one value for all operands that share it.
Value DeviceRowEmitter::rowBase(const Access &access) {
  Value &base = rowBases[{access.offset, access.strides, access.curves}];
  if (!base)
    base = before(sweepLoop, [&] {
      Value sum;
      auto include = [&](Value term) { sum = sum ? add(sum, term) : term; };
      for (auto [at, stride] : llvm::zip_equal(parallel, access.strides))
        if (stride)
          include(scaled(at, stride));
      for (auto &[dim, way] : access.curves)
        include(walk(parallel[dim], way));
      if (!sum)
        return index(access.offset);
      if (access.offset)
        include(like(sum, access.offset));
      return isa<IndexType>(sum.getType()) ? sum : create<arith::IndexCastOp>(b.getIndexType(), sum).getResult();
    });
  return base;
}

/// Of a slot, along the row.
Value DeviceRowEmitter::positionOf(int64_t slot) {
  Value &known = positions[slot];
  if (!known) {
    Value start = position ? position : item;
    known = slot ? add(start, index(plan.offsetOf(slot))) : start;
  }
  return known;
}

Value DeviceRowEmitter::place(const Access &access, int64_t slot) {
  bool isStill = access.row.isStill();
  Value &known = places[{nullptr, access.offset, access.strides, access.curves, access.row, isStill ? 0 : slot}];
  if (known)
    return known;
  if (isStill)
    return known = rowBase(access);
  if (slot && access.row.isLinear() && !isOpen(access.row.step()))
    return known = add(place(access, 0), index(plan.offsetOf(slot) * access.row.step()));
  if (int64_t apart = slot % neighbours(access))
    return known = add(place(access, slot - apart), index(apart));
  return known = add(rowBase(access), walk(positionOf(slot), access.row));
}

DeviceRowEmitter::Values DeviceRowEmitter::chooseValues(Value condition, TypeRange types, function_ref<Values()> then,
                                                        function_ref<Values()> otherwise) {
  if (!condition)
    return then();
  auto choice = create<scf::IfOp>(types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  create<scf::YieldOp>(then());
  b.setInsertionPointToStart(choice.elseBlock());
  create<scf::YieldOp>(otherwise());
  return Values(choice.getResults());
}

/// Of the row, its only value; else of the slots from this one on, as many as are read at once.
DeviceRowEmitter::Values DeviceRowEmitter::load(const Access &access, int64_t slot) {
  Value memref = kernel.arguments.lookup(access.base);
  if (access.row.isStill())
    return {loadElement(b, loc, memref, rowBase(access))};
  if (const Box *box = boxOf(access, /*isWritten=*/false))
    return {loadBoxed(*box, slot)};
  Values at;
  for (int64_t i = 0, count = neighbours(access); i < count; ++i)
    at.push_back(place(access, slot + i));
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  SmallVector<Type> types(at.size(), type);
  auto elements = [&] { return llvm::map_to_vector(at, [&](Value place) { return loadElement(b, loc, memref, place); }); };
  auto within = [&]() -> Values {
    if (at.size() == 1)
      return elements();
    return chooseValues(
        bytesOf(type) < deviceWordBytes ? aligned : Value(), types, [&] { return loadVector(b, loc, memref, at.front(), at.size()); },
        elements);
  };
  // Rather than at a place within the row: so work-items side by side are still seen to read elements side by side.
  Value none = isCut(slot) ? constant(b.getZeroAttr(type)) : Value();
  return chooseValues(isCut(slot) ? inRow : Value(), types, within, [&] { return Values(at.size(), none); });
}

Value DeviceRowEmitter::read(const Access &access, int64_t slot) {
  bool isOfRow = access.row.isStill();
  auto &cache = isOfRow ? rowLoads : stepLoads;
  auto keyOf = [&](int64_t of) {
    return AddressKey{access.base.getAsOpaquePointer(), access.offset, access.strides, access.curves, access.row, isOfRow ? 0 : of};
  };
  if (auto hit = cache.find(keyOf(slot)); hit != cache.end())
    return hit->second;
  int64_t from = slot / neighbours(access) * neighbours(access);
  Values loaded = before(isOfRow ? sweepLoop : nullptr, [&] { return load(access, from); });
  for (auto [i, v] : llvm::enumerate(loaded))
    cache[keyOf(from + static_cast<int64_t>(i))] = v;
  return cache[keyOf(slot)];
}

void DeviceRowEmitter::write(const Access &access, int64_t slot, ArrayRef<Value> elements) {
  Value memref = kernel.arguments.lookup(access.base);
  if (access.row.isStill())
    return storeElement(b, loc, elements.back(), memref, rowBase(access));
  if (const Box *box = boxOf(access, /*isWritten=*/true))
    return storeBoxed(*box, slot, elements.front());
  Values at;
  for (int64_t i = 0; i < static_cast<int64_t>(elements.size()); ++i)
    at.push_back(place(access, slot + i));
  auto oneByOne = [&] {
    for (auto [element, place] : llvm::zip_equal(elements, at))
      storeElement(b, loc, element, memref, place);
  };
  if (neighbours(access) == 1)
    return oneByOne();
  choose(
      b, loc, bytesOf(elements.front().getType()) < deviceWordBytes ? aligned : Value(),
      [&] { storeVector(b, loc, elements, memref, at.front()); }, oneByOne);
}
