//===- OpenEmitter.cpp - Emission of maps with open sizes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first and the last iteration of a call are divided into indices once. A loop starts at its index of the first
// iteration if all outer loops are at theirs, otherwise at 0; the end is chosen in the same way.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/OpenEmitter.h"

#include "Schedule/Build/FrameBuffers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

func::FuncOp quern::schedule::maps::emitOpen(const OpenMapPlan &plan) { return OpenEmitter(plan).emit(); }

OpenEmitter::OpenEmitter(const OpenMapPlan &plan) : KernelBuilder(plan.problem.function), plan(plan) {
  loc = plan.problem.op->getLoc();
}

static double nsOf(const OpenMapPlan &plan) {
  constexpr int64_t typical = 1024;
  int64_t points = 1, bytes = 0;
  for (const OpenMapPlan::MapLoop &loop : plan.loops)
    points *= plan.problem.axes[loop.axis].extent.cappedAt(loop.step);
  points = plan.kind == MapKind::Line ? std::min(points, typical) : points;
  for (const Operand &operand : plan.problem.operands)
    bytes += operand.bytes();
  const double ops = static_cast<double>(opsOf(plan.problem.op)) / static_cast<double>(plan.lanes);
  return static_cast<double>(points) *
         (static_cast<double>(bytes) * plan.strategy.nsPerByte + ops * plan.strategy.nsPerOperation);
}

func::FuncOp OpenEmitter::emit() {
  KernelTraits traits;
  traits.name = (func::FuncOp(plan.problem.function).getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.nsPerIteration = nsOf(plan);
  for (const MapLoop &loop : plan.loops) {
    const Size extent = plan.problem.axes[loop.axis].extent;
    if (extent.isOpen())
      traits.factors.append({extent.openIndex(), loop.step});
    else
      traits.space *= llvm::divideCeil(extent.known(), loop.step);
  }
  kernel = makeKernel(plan.problem.function, plan.problem.function, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
  clonePrologue(b, kernel, plan.problem.function, plan.problem.prologue, [&](Size size) { return index(size); });
  for (const Operand &operand : plan.problem.operands)
    flat.push_back(kernel.arguments.lookup(operand.base));
  auto any = create<scf::IfOp>(less(kernel.begin(), kernel.end()), /*withElseRegion=*/false);
  create<func::ReturnOp>();
  entry = any;
  b.setInsertionPointToStart(any.thenBlock());
  if (plan.kind == MapKind::Line)
    emitLines();
  else
    emitTiles();
  kernel.function.walk([](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  limitFrame(kernel.function);
  return kernel.function;
}

// Loops.

OpenEmitter::Value OpenEmitter::tripOf(const MapLoop &loop) {
  const Size extent = plan.problem.axes[loop.axis].extent;
  if (!extent.isOpen())
    return index(llvm::divideCeil(extent.known(), loop.step));
  if (loop.step == 1)
    return index(extent);
  Value all = index(extent), beyond = index(loop.step - 1), step = index(loop.step);
  return atEntry([&] { return create<arith::DivUIOp>(add(all, beyond), step).getResult(); });
}

OpenEmitter::Nest OpenEmitter::nestOf(ArrayRef<MapLoop> loops) {
  Nest nest{loops};
  for (const MapLoop &loop : loops)
    nest.trips.push_back(tripOf(loop));
  return nest;
}

void OpenEmitter::readStrides(Nest &nest, size_t count) {
  for (const MapLoop &loop : nest.loops.take_front(count))
    nest.strides.push_back(llvm::map_to_vector(plan.problem.operands, [&](const Operand &operand) -> Value {
      return scaled(index(operand.strides[loop.axis]), loop.step);
    }));
}

void OpenEmitter::swapWithNext(Nest &nest, size_t loop, Value swaps) {
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
void OpenEmitter::orderBySource(Nest &nest) {
  const size_t around = nest.loops.size() - 1;
  readStrides(nest, around);
  for (size_t end = around; end > 1; --end)
    for (size_t i = 0; i + 1 < end; ++i)
      swapWithNext(nest, i, less(nest.strides[i][plan.problem.source], nest.strides[i + 1][plan.problem.source]));
}

void OpenEmitter::forSpace(ArrayRef<MapLoop> loops, Body f, int64_t jamFactor, Order order) {
  Nest nest = nestOf(loops);
  nest.body = f;
  nest.jamFactor = jamFactor;
  if (order == Order::Source)
    orderBySource(nest);
  emitSpace(nest);
}

void OpenEmitter::emitSpace(Nest &nest) {
  const ArrayRef<MapLoop> loops = nest.loops;
  auto whole = [&] {
    Values digits(loops.size(), index(0));
    for (Value trip : nest.trips)
      digits.push_back(difference(trip, index(1)));
    return digits;
  };
  auto divided = [&] {
    Values digits(2 * loops.size());
    Value first = kernel.begin(), last = difference(kernel.end(), index(1));
    for (size_t i = loops.size(); i-- > 0;)
      for (auto [digit, rest] : {std::pair(i, &first), std::pair(loops.size() + i, &last)}) {
        digits[digit] = i ? create<arith::RemUIOp>(*rest, nest.trips[i]).getResult() : *rest;
        if (i)
          *rest = create<arith::DivUIOp>(*rest, nest.trips[i]);
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
  MapPlace place;
  for (const Operand &operand : plan.problem.operands)
    place.push_back(index(operand.offset));
  emitNest(nest, place, Value(), Value());
}

void OpenEmitter::emitNest(Nest &nest, const MapPlace &place, Value onFirst, Value onLast) {
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
      first = both(compare(arith::CmpIPredicate::eq, at, nest.first[depth]), onFirst);
      last = both(compare(arith::CmpIPredicate::eq, at, nest.last[depth]), onLast);
    }
    nest.at.push_back(at);
    emitNest(nest,
             depth < nest.strides.size() ? advance(place, nest.strides[depth], at)
                                         : advance(place, loop.axis, scaled(at, loop.step)),
             first, last);
    nest.at.pop_back();
  });
}

/// Emits the innermost loop, `jamFactor` indices per iteration.
void OpenEmitter::emitJammed(Nest &nest, const MapPlace &place, Value begin, Value end) {
  const MapLoop &loop = nest.loops.back();
  auto body = [&](Value at, int64_t count) {
    SmallVector<MapPlace> places{advance(place, loop.axis, scaled(at, loop.step))};
    while (static_cast<int64_t>(places.size()) < count)
      places.push_back(advance(places.back(), loop.axis, index(loop.step)));
    nest.at.push_back(at);
    nest.body(places, nest.at);
    nest.at.pop_back();
  };
  Value whole = add(begin, wholeSteps(difference(end, begin), nest.jamFactor));
  forRange(begin, whole, [&](Value at) { body(at, nest.jamFactor); }, nest.jamFactor);
  forRange(whole, end, [&](Value at) { body(at, 1); });
}

OpenEmitter::MapPlace OpenEmitter::advance(MapPlace place, unsigned axis, Value by) {
  for (auto [operand, base] : llvm::zip_equal(plan.problem.operands, place))
    if (operand.strides[axis] != 0)
      base = add(base, scaled(by, operand.strides[axis]));
  return place;
}

OpenEmitter::MapPlace OpenEmitter::advance(MapPlace place, ArrayRef<Value> strides, Value by) {
  for (auto [base, stride] : llvm::zip_equal(place, strides))
    base = add(base, create<arith::MulIOp>(by, stride, arith::IntegerOverflowFlags::nsw));
  return place;
}

OpenEmitter::Value OpenEmitter::wholeSteps(Value v, int64_t step) {
  return difference(v, create<arith::RemUIOp>(v, index(step)));
}

OpenEmitter::Value OpenEmitter::leftOf(const MapLoop &loop, Value at) {
  return least(difference(index(plan.problem.axes[loop.axis].extent), scaled(at, loop.step)), index(loop.step));
}

// Memory and the body.

OpenEmitter::Value OpenEmitter::load(Value memref, Value at, int64_t lanes, Value mask) {
  auto type = VectorType::get({lanes}, cast<MemRefType>(memref.getType()).getElementType());
  if (!mask)
    return create<vector::LoadOp>(type, memref, ValueRange{at});
  return create<vector::MaskedLoadOp>(type, memref, ValueRange{at}, mask, zeros(type));
}

void OpenEmitter::store(Value vector, Value at, Value mask, bool streamed) {
  if (mask) {
    create<vector::MaskedStoreOp>(flat.back(), ValueRange{at}, mask, vector);
    return;
  }
  const int64_t bytes = cast<VectorType>(vector.getType()).getNumElements() * plan.destination().bytes();
  create<vector::StoreOp>(vector, flat.back(), ValueRange{at}, streamed,
                          streamed ? llvm::MaybeAlign(bytes) : llvm::MaybeAlign());
}

OpenEmitter::Values OpenEmitter::elementsAt(const MapPlace &place, unsigned axis, int64_t lanes, Value mask,
                                            Value known) {
  Values elements;
  for (auto [i, operand] : llvm::enumerate(plan.problem.operands)) {
    if (!plan.isRead(i)) {
      elements.push_back(Value());
    } else if (known && i == plan.problem.source) {
      elements.push_back(known);
    } else if (operand.strides[axis] == 1) {
      elements.push_back(load(flat[i], place[i], lanes, mask));
    } else {
      Value one = create<memref::LoadOp>(flat[i], ValueRange{place[i]});
      elements.push_back(create<vector::BroadcastOp>(VectorType::get({lanes}, operand.element()), one));
    }
  }
  return elements;
}

void OpenEmitter::moveElement(const MapPlace &place, Value known) {
  Values elements;
  for (unsigned i = 0; i < plan.problem.operands.size(); ++i) {
    if (known && i == plan.problem.source)
      elements.push_back(known);
    else
      elements.push_back(plan.isRead(i) ? create<memref::LoadOp>(flat[i], ValueRange{place[i]}).getResult() : Value());
  }
  create<memref::StoreOp>(emitBody(*this, plan.problem, elements), flat.back(), ValueRange{place.back()});
}

/// Returns the bytes that the whole map moves.
OpenEmitter::Value OpenEmitter::bytesMoved() {
  Value bytes = index(0);
  for (const Operand &operand : plan.problem.operands) {
    Value own = index(operand.bytes());
    for (auto [a, axis] : llvm::enumerate(plan.problem.axes))
      if (operand.strides[a] != 0)
        own = scaled(own, axis.extent);
    // A destination that is read is cached in any case.
    bytes = plan.problem.readsOld ? own : add(bytes, own);
  }
  return bytes;
}

/// Returns whether the call computes the whole space.
OpenEmitter::Value OpenEmitter::computesAll(ArrayRef<Value> trips) {
  Value space = index(1);
  for (Value trip : trips)
    space = create<arith::MulIOp>(space, trip);
  return compare(arith::CmpIPredicate::eq, difference(kernel.end(), kernel.begin()), space);
}

/// A partial call means several threads, which together have more cache.
OpenEmitter::Value OpenEmitter::movesMuch(int64_t least) {
  Value isWhole = computesAll(llvm::map_to_vector(plan.loops, [&](const MapLoop &loop) { return tripOf(loop); }));
  Value from = create<arith::SelectOp>(isWhole, index(least), index(std::max(least, plan.strategy.streamAlwaysBytes)));
  return notMore(from, bytesMoved());
}

/// Prefetches into the second level, because the prefetched lines are often so far from each other that few of them fit
/// the first. Addresses past the end are harmless: a prefetch may name any memory.
void OpenEmitter::prefetch(Value at) {
  create<memref::PrefetchOp>(flat[plan.problem.source], ValueRange{at}, /*isWrite=*/false, /*localityHint=*/2,
                             /*isDataCache=*/true);
}

/// Returns whether the destination's address and all its strides except along `along` are multiples of `multiple`
/// bytes.
OpenEmitter::Value OpenEmitter::startsOn(int64_t multiple) {
  const int64_t bytes = plan.destination().bytes();
  Value places = create<memref::ExtractAlignedPointerAsIndexOp>(flat.back());
  places = create<arith::OrIOp>(places, scaled(index(plan.destination().offset), bytes));
  for (auto [a, stride] : llvm::enumerate(plan.destination().strides))
    if (a != plan.along)
      places = create<arith::OrIOp>(places, scaled(index(stride), bytes));
  return compare(arith::CmpIPredicate::eq, create<arith::AndIOp>(places, index(multiple - 1)), index(0));
}

OpenEmitter::Value OpenEmitter::scratch(int64_t elements, Type element) {
  return atEntry([&] {
    return create<memref::AllocaOp>(MemRefType::get({elements}, element), b.getI64IntegerAttr(64)).getResult();
  });
}
