//===- Addressing.cpp - Addresses, loads and stores of a work-item --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Emitter.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Device/Access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

Value DeviceRowEmitter::placeByOther(const Access &access, int64_t slot) {
  const auto apart = access.row.isLinear() ? access.row.advance(plan.offsetOf(slot), 1) : std::nullopt;
  if (apart)
    return add(place(access, 0), index(*apart));
  if (int64_t behind = slot % neighbors(access))
    return add(place(access, slot - behind), index(behind));
  return Value();
}

/// Loads the slots that are moved together with this one; for an operand that is invariant along the row, its only
/// value.
DeviceRowEmitter::Values DeviceRowEmitter::loadSlot(const Access &access, int64_t &slot) {
  slot -= slot % neighbors(access);
  Value memref = kernel.arguments.lookup(access.base);
  if (access.row.isStill())
    return {loadScalar(memref, rowBase(access))};
  if (const Box *box = boxOf(access, /*isWritten=*/false))
    return {loadBoxed(*box, slot)};
  Values at;
  for (int64_t i = 0, count = neighbors(access); i < count; ++i)
    at.push_back(place(access, slot + i));
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  SmallVector<Type> types(at.size(), type);
  auto elements = [&] { return llvm::map_to_vector(at, [&](Value place) { return loadScalar(memref, place); }); };
  auto within = [&]() -> Values {
    if (at.size() == 1)
      return elements();
    return chooseValues(
        bytesOf(type) < deviceWordBytes ? aligned : Value(), types,
        [&] { return loadVector(b, loc, memref, at.front(), at.size()); }, elements);
  };
  // Work-items outside the row skip the load instead of reading at an address within it, so that neighboring work-items
  // still have provably contiguous addresses.
  Value none = isCut(slot) ? constant(b.getZeroAttr(type)) : Value();
  return chooseValues(inRow(slot), types, within, [&] { return Values(at.size(), none); });
}

void DeviceRowEmitter::write(const Access &access, int64_t slot, ArrayRef<Value> elements) {
  Value memref = kernel.arguments.lookup(access.base);
  if (access.row.isStill())
    return storeScalar(elements.back(), memref, rowBase(access));
  if (const Box *box = boxOf(access, /*isWritten=*/true))
    return storeBoxed(*box, slot, elements.front());
  Values at;
  for (int64_t i = 0; i < static_cast<int64_t>(elements.size()); ++i)
    at.push_back(place(access, slot + i));
  auto oneByOne = [&] {
    for (auto [element, place] : llvm::zip_equal(elements, at))
      storeScalar(element, memref, place);
  };
  if (neighbors(access) == 1)
    return oneByOne();
  choose(
      bytesOf(elements.front().getType()) < deviceWordBytes ? aligned : Value(),
      [&] { storeVector(b, loc, elements, memref, at.front()); }, oneByOne);
}
