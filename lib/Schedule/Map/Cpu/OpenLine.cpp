//===- OpenLine.cpp - Lines with open sizes -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lines of a few vectors have separate loops. Without masks, the last vector of a line ends where the line ends. It is
// computed before anything is stored, because the line may be its own source.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/OpenEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

static constexpr int64_t maxShortVectors = 4; ///< maximum vectors of lines that have separate loops
static constexpr int64_t fewest = 4;          ///< minimum lanes of a vector

void OpenEmitter::emitLines() {
  constexpr int64_t minVectors = 16; // minimum vectors of a line that uses non-temporal stores
  Value length = index(plan.problem.axes[plan.along].extent);
  streams = both(movesMuch(plan.strategy.streamBytes), notMore(index(minVectors * plan.lanes), length));
  auto ofParts = [&] {
    forSpace(plan.loops, [&](ArrayRef<MapPlace> places, ArrayRef<Value> at) {
      emitLine(places[0], leftOf(plan.loops.back(), at.back()));
    });
  };
  const int64_t ops = opsOf(plan.problem.op) + static_cast<int64_t>(plan.problem.operands.size());
  auto cached = [&] {
    if (ops * maxShortVectors > plan.strategy.stepOps)
      return ofParts();
    emitShort(length, std::min(fewest, plan.lanes), ofParts);
  };
  if (plan.loops.size() < 3 || plan.streamedLanes * plan.destination().bytes() < lineBytes)
    return cached();
  Value isWhole =
      compare(arith::CmpIPredicate::eq, create<arith::RemUIOp>(length, index(plan.streamedLanes)), index(0));
  choose(
      both(both(startsOn(lineBytes), isWhole), movesMuch(plan.strategy.streamBytes)), [&] { emitWholeLines(); },
      cached);
}

/// Moves permuted lines that are whole cache lines with non-temporal stores, in the order of the source, which the
/// hardware prefetcher follows.
void OpenEmitter::emitWholeLines() {
  auto move = [&](ArrayRef<MapPlace> places, ArrayRef<Value> at) {
    Value length = leftOf(plan.loops.back(), at.back()), steps = wholeSteps(length, plan.lanes * plan.unroll);
    emitSteps(places[0], length, /*streamed=*/true);
    auto single = [&](Value from) {
      const MapPlace first = advance(places[0], plan.along, from);
      Values values;
      for (int64_t lane = 0; lane < plan.streamedLanes; lane += plan.lanes)
        values.push_back(valueAt(advance(first, plan.along, index(lane)), plan.along, plan.lanes));
      store(joinVectors(b, loc, values), first.back(), Value(), /*streamed=*/true);
    };
    forRange(steps, length, single, plan.streamedLanes);
  };
  forSpace(plan.loops, move, /*jamFactor=*/1, Order::Source);
}

/// Emits separate loops for lines of up to a few vectors of `lanes` lanes, and then for lines of wider vectors.
void OpenEmitter::emitShort(Value length, int64_t lanes, function_ref<void()> longer) {
  auto upTo = [&](int64_t most, function_ref<void()> then, function_ref<void()> otherwise) {
    choose(notMore(length, index(most)), then, otherwise);
  };
  auto wider = [&] {
    if (lanes < plan.lanes)
      return emitShort(length, 2 * lanes, longer);
    if (!plan.isMasked)
      return longer();
    upTo(
        3 * lanes, [&] { emitMaskedLines(lanes, 3); },
        [&] { upTo(4 * lanes, [&] { emitMaskedLines(lanes, 4); }, longer); });
  };
  // Blocks of channels are often exactly one vector.
  auto isOne = [&] {
    return 2 * lanes > plan.lanes ? Value() : compare(arith::CmpIPredicate::eq, length, index(2 * lanes));
  };
  auto overlapping = [&] { emitOverlapping(lanes); };
  auto ofOneOrTwo = [&] {
    if (Value one = isOne())
      choose(one, [&] { emitPieces(2 * lanes, {index(0)}, Value()); }, overlapping);
    else
      overlapping();
  };
  auto ofTwo = [&] { upTo(2 * lanes, ofOneOrTwo, wider); };
  if (lanes > std::min(fewest, plan.lanes))
    return ofTwo();
  upTo(lanes - 1, [&] { plan.isMasked ? emitMaskedLines(lanes, 1) : emitElements(); }, ofTwo);
}

/// Moves lines as pieces. All pieces of a group of lines are computed before any of these lines is stored.
void OpenEmitter::emitPieces(int64_t lanes, ArrayRef<Value> starts, Value lastMask) {
  constexpr int64_t ahead = 1024;
  const ArrayRef<MapLoop> around = ArrayRef(plan.loops).drop_back();
  const auto count = static_cast<int64_t>(starts.size());
  const int64_t bytes = lanes * plan.source().bytes();
  const bool asks = !around.empty() && bytes >= lineBytes;
  auto move = [&](ArrayRef<MapPlace> places, ArrayRef<Value>) {
    Values values, stored;
    for (const MapPlace &place : places)
      for (auto [i, start] : llvm::enumerate(starts)) {
        if (asks) // the hardware prefetcher does not follow short, non-contiguous lines
          prefetch(advance(advance(place, around.back().axis, index(std::max<int64_t>(1, ahead / (bytes * count)))),
                           plan.along, start)[plan.problem.source]);
        const MapPlace there = advance(place, plan.along, start);
        const bool isLast = i + 1 == starts.size();
        values.push_back(valueAt(there, plan.along, lanes, isLast ? lastMask : Value()));
        stored.push_back(there.back());
      }
    for (auto [i, value] : llvm::enumerate(values))
      store(value, stored[i], (i + 1) % starts.size() ? Value() : lastMask);
  };
  const int64_t jamFactor = count == 1 && !lastMask ? 2 * maxShortVectors : maxShortVectors / count;
  forSpace(around, move, std::max<int64_t>(1, jamFactor));
}

/// All vectors of a line except the last are whole.
void OpenEmitter::emitMaskedLines(int64_t lanes, int64_t vectors) {
  Values starts;
  for (int64_t v = 0; v < vectors; ++v)
    starts.push_back(index(v * lanes));
  Value length = index(plan.problem.axes[plan.along].extent);
  emitPieces(lanes, starts, prefixMask(difference(length, starts.back()), lanes));
}

/// Moves a line as one vector from its start and one that ends where it ends. The vectors are no wider than necessary,
/// because an access that crosses a cache line costs as much as two, whatever its mask.
void OpenEmitter::emitOverlapping(int64_t lanes) {
  Value length = index(plan.problem.axes[plan.along].extent);
  emitPieces(lanes, {index(0), difference(length, index(lanes))}, Value());
}

void OpenEmitter::emitElements() {
  Value length = index(plan.problem.axes[plan.along].extent);
  forSpace(ArrayRef(plan.loops).drop_back(), [&](ArrayRef<MapPlace> places, ArrayRef<Value>) {
    forRange(index(0), length, [&](Value at) { moveElement(advance(places[0], plan.along, at)); });
  });
}

void OpenEmitter::emitLine(const MapPlace &place, Value length) {
  if (!plan.isMasked)
    return emitUnmasked(place, length);
  choose(
      streams, [&] { emitStreamed(place, length); },
      [&] {
        emitSteps(place, length, /*streamed=*/false);
        emitMaskedEnd(place, length, wholeSteps(length, plan.lanes * plan.unroll));
      });
}

/// Emits the whole steps.
void OpenEmitter::emitSteps(const MapPlace &place, Value length, bool streamed) {
  const int64_t step = plan.lanes * plan.unroll, together = streamed ? plan.streamedLanes / plan.lanes : 1;
  forRange(
      index(0), wholeSteps(length, step),
      [&](Value at) {
        const MapPlace first = advance(place, plan.along, at);
        Values values;
        for (int64_t v = 0; v < plan.unroll; ++v)
          values.push_back(valueAt(advance(first, plan.along, index(v * plan.lanes)), plan.along, plan.lanes));
        for (int64_t v = 0; v < plan.unroll; v += together)
          store(joinVectors(b, loc, Values(ArrayRef(values).slice(v, together))), add(first.back(), v * plan.lanes),
                Value(), streamed);
      },
      step);
}

/// Emits single vectors, then a masked one for the remainder.
void OpenEmitter::emitMaskedEnd(const MapPlace &place, Value length, Value from) {
  Value end = wholeSteps(length, plan.lanes);
  forRange(
      from, end,
      [&](Value at) {
        const MapPlace there = advance(place, plan.along, at);
        store(valueAt(there, plan.along, plan.lanes), there.back());
      },
      plan.lanes);
  choose(less(end, length), [&] {
    Value mask = prefixMask(difference(length, end), plan.lanes);
    const MapPlace there = advance(place, plan.along, end);
    store(valueAt(there, plan.along, plan.lanes, mask), there.back(), mask);
  });
}

/// Returns the bytes from a place in the destination to the next boundary of a non-temporal store.
OpenEmitter::Value OpenEmitter::boundaryFrom(const MapPlace &place) {
  Value start = create<memref::ExtractAlignedPointerAsIndexOp>(flat.back());
  Value address = add(start, scaled(place.back(), plan.destination().bytes()));
  return create<arith::AndIOp>(create<arith::SubIOp>(index(0), address),
                               index(plan.streamedLanes * plan.destination().bytes() - 1));
}

/// Emits a line with non-temporal stores from a boundary on. If no element starts on a boundary, ordinary stores are
/// used.
void OpenEmitter::emitStreamed(const MapPlace &place, Value length) {
  Value head = create<arith::DivUIOp>(boundaryFrom(place), index(plan.destination().bytes()));
  head = least(head, length);
  forRange(
      index(0), head,
      [&](Value at) {
        const MapPlace there = advance(place, plan.along, at);
        Value mask = prefixMask(least(difference(head, at), index(plan.lanes)), plan.lanes);
        store(valueAt(there, plan.along, plan.lanes, mask), there.back(), mask);
      },
      plan.lanes);
  const MapPlace rest = advance(place, plan.along, head);
  Value left = difference(length, head);
  choose(
      compare(arith::CmpIPredicate::eq, boundaryFrom(rest), index(0)),
      [&] { emitSteps(rest, left, /*streamed=*/true); }, [&] { emitSteps(rest, left, /*streamed=*/false); });
  emitMaskedEnd(rest, left, wholeSteps(left, plan.lanes * plan.unroll));
}

void OpenEmitter::emitUnmasked(const MapPlace &place, Value length) {
  auto whole = [&] {
    const MapPlace ending = advance(place, plan.along, difference(length, index(plan.lanes)));
    Value last = valueAt(ending, plan.along, plan.lanes);
    Value aligned = both(streams, compare(arith::CmpIPredicate::eq, boundaryFrom(place), index(0)));
    choose(
        aligned, [&] { emitSteps(place, length, /*streamed=*/true); },
        [&] { emitSteps(place, length, /*streamed=*/false); });
    forRange(
        wholeSteps(length, plan.lanes * plan.unroll), wholeSteps(length, plan.lanes),
        [&](Value at) {
          const MapPlace there = advance(place, plan.along, at);
          store(valueAt(there, plan.along, plan.lanes), there.back());
        },
        plan.lanes);
    store(last, ending.back());
  };
  choose(notMore(index(plan.lanes), length), whole, [&] { emitFew(place, length, plan.lanes / 2); });
}

/// Moves fewer than 2 · `lanes` elements: two overlapping vectors, or, below `lanes`, narrower ones.
void OpenEmitter::emitFew(const MapPlace &place, Value length, int64_t lanes) {
  if (lanes < fewest)
    return forRange(index(0), length, [&](Value at) { moveElement(advance(place, plan.along, at)); });
  auto two = [&] {
    const MapPlace ending = advance(place, plan.along, difference(length, index(lanes)));
    Value first = valueAt(place, plan.along, lanes), last = valueAt(ending, plan.along, lanes);
    store(first, place.back());
    store(last, ending.back());
  };
  choose(notMore(index(lanes), length), two, [&] { emitFew(place, length, lanes / 2); });
}
