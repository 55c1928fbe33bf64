//===- Nest.cpp - The loops over the space of a call ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first and the last iteration of a call are divided into indices once. A loop starts at its index of the first
// iteration if all outer loops are at theirs, otherwise at 0; the end is chosen in the same way.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

/// Returns the number of iterations of a loop, which is computed once per call.
Index VariantEmitter::tripOf(const MapLoop &loop) {
  return atEntry([&] { return ceilDiv(extentOf(loop.axis), loop.step); });
}

VariantEmitter::Nest VariantEmitter::nestOf(ArrayRef<MapLoop> loops) {
  Nest nest{loops};
  for (const MapLoop &loop : loops)
    nest.trips.push_back(index(tripOf(loop)));
  return nest;
}

void VariantEmitter::readStrides(Nest &nest, size_t count) {
  for (const MapLoop &loop : nest.loops.take_front(count))
    nest.strides.push_back(llvm::map_to_vector(problem.operands, [&](const Operand &operand) -> Value {
      return index(operand.strides[loop.axis] * loop.step);
    }));
}

void VariantEmitter::swapWithNext(Nest &nest, size_t loop, Value swaps) {
  auto exchange = [&](Value &x, Value &y) {
    Value first = create<arith::SelectOp>(swaps, y, x), second = create<arith::SelectOp>(swaps, x, y);
    x = first, y = second;
  };
  exchange(nest.trips[loop], nest.trips[loop + 1]);
  for (auto [x, y] : llvm::zip_equal(nest.strides[loop], nest.strides[loop + 1]))
    exchange(x, y);
}

/// Sorts the loops around the innermost one by their source strides, which are known only at execution: a bubble sort
/// made of selects.
void VariantEmitter::orderBySource(Nest &nest) {
  const size_t around = nest.loops.size() - 1;
  readStrides(nest, around);
  for (size_t end = around; end > 1; --end)
    for (size_t i = 0; i + 1 < end; ++i)
      swapWithNext(nest, i, isLess(nest.strides[i][problem.source], nest.strides[i + 1][problem.source]));
}

void VariantEmitter::forSpace(ArrayRef<MapLoop> loops, Body f, int64_t jamFactor, Order order) {
  Nest nest = nestOf(loops);
  nest.body = f;
  nest.jamFactor = jamFactor;
  if (order == Order::Source)
    orderBySource(nest);
  emitSpace(nest);
}

void VariantEmitter::emitSpace(Nest &nest) {
  const ArrayRef<MapLoop> loops = nest.loops;
  auto whole = [&] {
    Values digits(loops.size(), index(0));
    for (Value trip : nest.trips)
      digits.push_back(sub(trip, 1));
    return digits;
  };
  auto divided = [&] {
    Values digits(2 * loops.size());
    Value first = kernel.begin(), last = sub(kernel.end(), 1);
    for (size_t i = loops.size(); i-- > 0;)
      for (auto [digit, rest] : {std::pair(i, &first), std::pair(loops.size() + i, &last)}) {
        digits[digit] = i ? mod(*rest, nest.trips[i]) : *rest;
        if (i)
          *rest = floorDiv(*rest, nest.trips[i]);
      }
    return digits;
  };
  // Divisions are expensive compared with a small map, which is computed by one call.
  const Values digits = loops.size() < 2
                            ? divided()
                            : chooseValues(computesAll(nest.trips),
                                           SmallVector<Type>(2 * loops.size(), b.getIndexType()), whole, divided);
  nest.first = Values(ArrayRef(digits).take_front(loops.size()));
  nest.last = Values(ArrayRef(digits).drop_front(loops.size()));
  emitNest(nest, origin(), Value(), Value());
}

void VariantEmitter::emitNest(Nest &nest, const MapPlace &place, Value onFirst, Value onLast) {
  const size_t depth = nest.at.size();
  if (depth == nest.loops.size())
    return nest.body(place, nest.at);
  auto chosen = [&](Value condition, Value then, Value otherwise) {
    return condition ? create<arith::SelectOp>(condition, then, otherwise).getResult() : then;
  };
  const MapLoop &loop = nest.loops[depth];
  Value begin = nest.first[depth], end = add(nest.last[depth], 1);
  if (depth)
    begin = chosen(onFirst, begin, index(0)), end = chosen(onLast, end, nest.trips[depth]);
  if (depth + 1 == nest.loops.size() && nest.ofRange)
    return nest.ofRange(place, begin, end);
  if (depth + 1 == nest.loops.size() && nest.jamFactor > 1)
    return emitJammed(nest, place, begin, end);
  forRange(begin, end, [&](Value at) {
    Value first, last;
    if (depth + 1 < nest.loops.size()) {
      first = both(isEqual(at, nest.first[depth]), onFirst);
      last = both(isEqual(at, nest.last[depth]), onLast);
    }
    nest.at.push_back(at);
    emitNest(nest,
             depth < nest.strides.size() ? advanceAlong(place, nest.strides[depth], at) : advance(place, loop, at),
             first, last);
    nest.at.pop_back();
  });
}

/// Emits the innermost loop, `jamFactor` indices per iteration.
void VariantEmitter::emitJammed(Nest &nest, const MapPlace &place, Value begin, Value end) {
  const MapLoop &loop = nest.loops.back();
  auto body = [&](Value at, int64_t count) {
    SmallVector<MapPlace> places{advance(place, loop, at)};
    while (static_cast<int64_t>(places.size()) < count)
      places.push_back(advance(places.back(), loop, 1));
    nest.at.push_back(at);
    nest.body(places, nest.at);
    nest.at.pop_back();
  };
  Value whole = add(begin, roundDown(sub(end, begin), nest.jamFactor));
  forRange(begin, whole, [&](Value at) { body(at, nest.jamFactor); }, nest.jamFactor);
  forRange(whole, end, [&](Value at) { body(at, 1); });
}

MapEmitter::MapPlace VariantEmitter::advanceAlong(MapPlace place, ArrayRef<Value> strides, Value by) {
  for (auto [base, stride] : llvm::zip_equal(place.bases, strides))
    base = add(base, mul(by, stride));
  return place;
}

Index VariantEmitter::leftOf(const MapLoop &loop, Value at) {
  if (!extentOf(loop.axis).mayExceed(loop.step))
    return extentOf(loop.axis);
  return min(sub(extentOf(loop.axis), mul(at, loop.step)), loop.step);
}

/// Returns whether the call computes the whole space.
Value VariantEmitter::computesAll(ArrayRef<Value> trips) {
  Index space = 1;
  for (Value trip : trips)
    space = mul(space, trip);
  return isEqual(sub(kernel.end(), kernel.begin()), space);
}
