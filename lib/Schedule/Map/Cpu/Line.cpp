//===- Line.cpp - Lines and points ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line is a loop of whole steps, followed by a loop of single vectors, the last of them partial. If a limit ends the
// line early, vectors are masked, and a loop without a body stores the value of a merged fill after it. Partial vectors
// are masked if the target masks all of the types; otherwise the remaining elements are moved one by one.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Emitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

namespace {

/// A number of elements: a constant, or a value.
struct Count {
  int64_t number = 0;
  Value value;
  bool isKnown() const { return !value; }
};

/// Writes one line. Elements are counted from the line's start.
class LineEmitter {
public:
  using MapPlace = MapEmitter::MapPlace;

  LineEmitter(MapEmitter &emitter, const MapPlace &place)
      : e(emitter), plan(emitter.plan), problem(emitter.problem), place(place), inner(plan.run), lanes(plan.lanes) {
    inner.parts.pop_back();
    vector = plan.run;
    vector.parts.back().count *= lanes; // lanes of a vector that are past the end of the run are masked
  }
  void emit();

private:
  Count elementsLeft(bool write);
  bool mayBeBeyond(bool write) const;
  Value asValue(const Count &count) { return count.isKnown() ? e.index(count.number) : count.value; }
  bool isInvariant(unsigned operand) const;
  bool isRead(unsigned operand) const { return operand + 1 < problem.operands.size() || problem.readsOld; }
  bool masksAll() const;
  void readInvariants();
  Value isAligned();
  MapEmitter::Values joined(ArrayRef<Value> vectors, int64_t count);
  void emitHead(Count &reads, Count &writes);
  MapPlace placeAt(Value at);
  MapPlace advanceBy(MapPlace from, int64_t by);
  Value valueAt(const MapPlace &at, Value mask);
  void emitReads(Count reads, Count writes);
  Value emitSteps(const Count &reads);
  void emitStep(Value at, int64_t vectors);
  void emitRest(Value from, const Count &reads, const Count &writes);
  void emitPartial(const MapPlace &at, Value readMask, Value writeMask);
  void emitElements(Value from, const Count &reads);
  void emitPadding(const Count &reads, const Count &writes);
  void emitShort(const Count &reads, const Count &writes);

  MapEmitter &e;
  MapPlan &plan;
  MapProblem &problem;
  MapPlace place;          ///< the line's first element that is not yet written
  LaneGroup inner, vector; ///< the run without its last part; the lanes of a vector
  int64_t lanes;
  MapEmitter::Values invariants;       ///< by operand: the vector that all vectors of the line share, or null
  Value repeatedReads, repeatedWrites; ///< masks that all vectors share; null if all lanes exist
  Value aligned;                       ///< whether whole vectors may use non-temporal stores; null: they may not
};

/// Returns the number of elements before a limit ends the run: partway for limits along its last part, 0 or all for
/// limits that do not vary along it. Limits along other parts become masks that repeat; if they exclude all lanes, the
/// number is 0.
Count LineEmitter::elementsLeft(bool write) {
  int64_t length = plan.run.lanes(), perIndex = inner.lanes();
  Count left{length, Value()};
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    if (!e.mayExceed(i, write))
      continue;
    Value room = e.room(place, i, write), own;
    int64_t weight = limit.weights[plan.run.parts.back().axis];
    if (weight > 1)
      room = e.create<arith::DivSIOp>(e.add(room, weight - 1), e.index(weight));
    if (weight)
      own = e.scaled(room, perIndex);
    else
      own = e.create<arith::SelectOp>(e.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, room, e.index(0)),
                                      e.index(length), e.index(0));
    left.value = e.create<arith::MinSIOp>(asValue(left), own);
  }
  return left;
}

/// Returns true if some run may be entirely past a limit.
bool LineEmitter::mayBeBeyond(bool write) const {
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    int64_t inRun = plan.run.sum(plan.run.lanes() - 1, limit.weights);
    if (e.mayExceed(i, write) && plan.highest[i] - inRun >= (write ? limit.write : limit.read))
      return true;
  }
  return false;
}

/// Returns true for an operand of which every vector is equal: one element for all lanes, or a repeating pattern.
bool LineEmitter::isInvariant(unsigned operand) const {
  const Operand &own = problem.operands[operand];
  return own.strides[plan.run.parts.back().axis] == 0;
}

bool LineEmitter::masksAll() const {
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!plan.takesMask(operand.element()) && (!isRead(i) || operand.strides[plan.run.parts[0].axis] == 1))
      return false;
  return plan.takesMask(plan.destination().element());
}

/// Reads operands that all vectors share, before the first vector. The line has at least one element.
void LineEmitter::readInvariants() {
  int64_t period = std::min(inner.lanes(), lanes);
  invariants.assign(problem.operands.size(), Value());
  for (unsigned i = 0; i < problem.operands.size(); ++i) {
    if (!isRead(i) || !isInvariant(i))
      continue;
    bool isStill =
        llvm::all_of(plan.run.parts, [&](const Part &part) { return problem.operands[i].strides[part.axis] == 0; });
    if (isStill) {
      invariants[i] = e.read(i, vector, 0, lanes, place.bases[i], Value());
      continue;
    }
    Value once = e.read(i, inner, 0, period, place.bases[i], e.laneMask(place, inner, 0, period, false));
    SmallVector<int64_t> repeat;
    for (int64_t lane = 0; lane < lanes; ++lane)
      repeat.push_back(lane % period);
    invariants[i] = period == lanes ? once : e.create<vector::ShuffleOp>(once, once, repeat).getResult();
  }
}

Value LineEmitter::isAligned() {
  int64_t bytes = plan.streamedLanes * plan.destination().bytes();
  if (!plan.streams || bytes < 16 || repeatedReads || repeatedWrites)
    return Value();
  Value start = e.create<memref::ExtractAlignedPointerAsIndexOp>(e.flat.back());
  Value address = e.add(start, e.scaled(place.bases.back(), plan.destination().bytes()));
  Value rest = e.create<arith::AndIOp>(address, e.index(bytes - 1));
  return e.both(e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, e.index(0)), e.mayStream());
}

/// Emits the elements before the first boundary of a non-temporal store.
void LineEmitter::emitHead(Count &reads, Count &writes) {
  int64_t bytes = plan.destination().bytes();
  Value start = e.create<memref::ExtractAlignedPointerAsIndexOp>(e.flat.back());
  Value address = e.add(start, e.scaled(place.bases.back(), bytes));
  Value beyond =
      e.create<arith::AndIOp>(e.create<arith::SubIOp>(e.index(0), address), e.index(plan.streamedLanes * bytes - 1));
  Value head = e.create<arith::MinSIOp>(e.create<arith::DivUIOp>(beyond, e.index(bytes)), asValue(reads));
  if (plan.streamedLanes == lanes)
    emitPartial(place, e.maskOfLeft(head, lanes), Value());
  else
    e.forRange(
        e.index(0), head,
        [&](Value at) { emitPartial(placeAt(at), e.maskOfLeft(e.create<arith::SubIOp>(head, at), lanes), Value()); },
        lanes);
  place = placeAt(head);
  writes = reads = {0, e.create<arith::SubIOp>(asValue(reads), head)};
}

LineEmitter::MapPlace LineEmitter::placeAt(Value at) {
  MapPlace there = place;
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!isInvariant(i))
      there.bases[i] = e.add(there.bases[i], e.scaled(at, operand.strides[plan.run.parts[0].axis]));
  return there;
}

LineEmitter::MapPlace LineEmitter::advanceBy(MapPlace from, int64_t by) {
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!isInvariant(i))
      from.bases[i] = e.add(from.bases[i], by * operand.strides[plan.run.parts[0].axis].known());
  return from;
}

Value LineEmitter::valueAt(const MapPlace &at, Value mask) {
  MapEmitter::Values elements;
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    elements.push_back(invariants[i] || !isRead(i) ? invariants[i] : e.read(i, vector, 0, lanes, at.bases[i], mask));
  return e.emitBody(elements, lanes);
}

void LineEmitter::emitStep(Value at, int64_t vectors) {
  MapPlace first = placeAt(at);
  if (repeatedReads || repeatedWrites) {
    for (int64_t v = 0; v < vectors; ++v)
      emitPartial(advanceBy(first, v * lanes), repeatedReads, repeatedWrites);
    return;
  }
  MapEmitter::Values values;
  for (int64_t v = 0; v < vectors; ++v)
    values.push_back(valueAt(advanceBy(first, v * lanes), Value()));
  auto store = [&](ArrayRef<Value> all, int64_t apart, bool streamed) {
    for (auto [i, value] : llvm::enumerate(all))
      e.store(value, e.add(first.bases.back(), static_cast<int64_t>(i) * apart), Value(), streamed);
  };
  int64_t together = plan.streamedLanes / lanes;
  if (!aligned || vectors % together)
    return store(values, lanes, false);
  e.choose(
      aligned, [&] { store(joined(values, together), plan.streamedLanes, true); },
      [&] { store(values, lanes, false); });
}

/// Concatenates `count` adjacent vectors into one: a cache line that is streamed in parts occupies a buffer of the core
/// for longer.
MapEmitter::Values LineEmitter::joined(ArrayRef<Value> vectors, int64_t count) {
  MapEmitter::Values all(vectors);
  for (int64_t length = lanes; count > 1; count /= 2, length *= 2) {
    auto both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * length));
    for (size_t i = 0; i < all.size() / 2; ++i)
      all[i] = e.create<vector::ShuffleOp>(all[2 * i], all[2 * i + 1], both);
    all.truncate(all.size() / 2);
  }
  return all;
}

/// Emits the whole steps of the elements that are read; returns their end.
Value LineEmitter::emitSteps(const Count &reads) {
  int64_t step = lanes * plan.unroll;
  if (!reads.isKnown()) {
    Value end = e.create<arith::SubIOp>(reads.value, e.create<arith::RemUIOp>(reads.value, e.index(step)));
    e.forRange(e.index(0), end, [&](Value at) { emitStep(at, plan.unroll); }, step);
    return end;
  }
  int64_t end = reads.number / step * step;
  if (end == step)
    emitStep(e.index(0), plan.unroll);
  else if (end)
    e.forRange(e.index(0), e.index(end), [&](Value at) { emitStep(at, plan.unroll); }, step);
  return e.index(end);
}

void LineEmitter::emitPartial(const MapPlace &at, Value readMask, Value writeMask) {
  Value value = valueAt(at, readMask);
  if (problem.writesPadding() && readMask)
    value = e.create<arith::SelectOp>(readMask, value, e.paddingValue(lanes));
  e.store(value, at.bases.back(), problem.writesPadding() ? writeMask : readMask, false);
}

void LineEmitter::emitRest(Value from, const Count &reads, const Count &writes) {
  if (!masksAll())
    return emitElements(from, reads);
  auto masked = [&](Value at, const Count &count, Value repeated) {
    Value left = e.create<arith::SubIOp>(asValue(count), at);
    return e.both(e.maskOfLeft(left, lanes), repeated);
  };
  auto partial = [&](Value at) {
    Value readMask = masked(at, reads, repeatedReads);
    bool differs = problem.writesPadding() && writes.value != reads.value;
    emitPartial(placeAt(at), readMask, differs ? masked(at, writes, repeatedWrites) : readMask);
  };
  if (!reads.isKnown())
    return e.forRange(from, reads.value, partial, lanes);
  int64_t rest = reads.number % (lanes * plan.unroll);
  if (rest > lanes)
    e.forRange(from, e.index(reads.number), partial, lanes);
  else if (rest)
    emitPartial(placeAt(from), e.both(e.prefixMask(rest, lanes), repeatedReads),
                e.both(e.prefixMask(rest, lanes), repeatedWrites));
}

/// Emits single vectors while they are whole, then single elements.
void LineEmitter::emitElements(Value from, const Count &reads) {
  auto element = [&](Value at) {
    MapPlace there = placeAt(at);
    MapEmitter::Values elements;
    for (unsigned i = 0; i < problem.operands.size(); ++i)
      elements.push_back(isRead(i) ? e.loadScalar(i, there.bases[i]) : Value());
    e.storeScalar(e.emitBody(elements, 0), there.bases.back());
  };
  int64_t rest = reads.isKnown() ? reads.number % (lanes * plan.unroll) : lanes * plan.unroll - 1;
  if (rest >= lanes) {
    Value end =
        reads.isKnown()
            ? e.index(reads.number / lanes * lanes)
            : e.create<arith::SubIOp>(reads.value, e.create<arith::RemUIOp>(reads.value, e.index(lanes))).getResult();
    e.forRange(from, end, [&](Value at) { emitStep(at, 1); }, lanes);
    from = end;
  }
  if (reads.isKnown() ? rest % lanes : lanes > 1)
    e.forRange(from, asValue(reads), element);
}

/// Stores the padding after the last vector that was partly read, or after the last element if nothing is masked.
void LineEmitter::emitPadding(const Count &reads, const Count &writes) {
  Value from = e.create<arith::MaxSIOp>(asValue(reads), e.index(0));
  auto element = [&](Value at) { e.storeScalar(e.paddingValue(0), e.add(place.bases.back(), at)); };
  if (!masksAll())
    return e.forRange(from, asValue(writes), element);
  Value up = e.add(from, lanes - 1);
  from = e.create<arith::SubIOp>(up, e.create<arith::RemUIOp>(up, e.index(lanes)));
  auto vector = [&](Value at) {
    Value mask = e.maskOfLeft(e.create<arith::SubIOp>(asValue(writes), at), lanes);
    e.store(e.paddingValue(lanes), e.add(place.bases.back(), at), e.both(mask, repeatedWrites), false);
  };
  e.forRange(from, asValue(writes), vector, lanes);
}

void LineEmitter::emitReads(Count reads, Count writes) {
  repeatedReads = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, false);
  repeatedWrites = inner.parts.empty() || !problem.writesPadding() ? Value() : e.laneMask(place, inner, 0, lanes, true);
  readInvariants();
  if (plan.peels)
    emitHead(reads, writes);
  aligned = isAligned();
  Value from = emitSteps(reads);
  emitRest(from, reads, writes);
}

/// Emits a run of at most one vector, masked if something ends it.
void LineEmitter::emitShort(const Count &reads, const Count &writes) {
  auto maskOf = [&](const Count &count, bool write) {
    Value repeated = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, write);
    if (!count.isKnown())
      return e.both(e.maskOfLeft(count.value, lanes), repeated);
    return count.number < lanes ? e.both(e.prefixMask(count.number, lanes), repeated) : repeated;
  };
  Value writeMask = problem.writesPadding() ? maskOf(writes, true) : Value();
  auto move = [&] {
    readInvariants();
    aligned = isAligned();
    Value readMask = maskOf(reads, false);
    if (readMask || writeMask)
      emitPartial(place, readMask, writeMask);
    else
      emitStep(e.index(0), 1);
  };
  bool needsAny = mayBeBeyond(/*write=*/false); // a vector without an active lane must be skipped
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    needsAny |= isRead(i) && isInvariant(i); // this value is read whatever the mask
  auto isAny = [&](const Count &count) {
    return e.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, count.value, e.index(0));
  };
  Value any = reads.isKnown() || !needsAny ? Value() : isAny(reads);
  if (!problem.writesPadding())
    return e.choose(any, move);
  auto clear = [&] { e.store(e.paddingValue(lanes), place.bases.back(), writeMask, false); };
  Value anyWritten = writes.isKnown() || !mayBeBeyond(/*write=*/true) ? Value() : isAny(writes);
  e.choose(anyWritten, [&] {
    if (any)
      e.choose(any, move, clear);
    else
      move();
  });
}

void LineEmitter::emit() {
  if (plan.run.lanes() <= lanes && masksAll()) {
    Count reads = elementsLeft(false);
    return emitShort(reads, problem.writesPadding() ? elementsLeft(true) : reads);
  }
  Count reads = elementsLeft(false);
  if (reads.isKnown())
    return emitReads(reads, reads);
  Count writes = problem.writesPadding() ? elementsLeft(true) : reads;
  Value any = e.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, reads.value, e.index(0));
  e.choose(any, [&] { emitReads(reads, writes); });
  if (!problem.writesPadding())
    return;
  repeatedWrites = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, true);
  emitPadding(reads, writes);
}

} // namespace

void MapEmitter::emitLine(const MapPlace &place) { LineEmitter(*this, place).emit(); }

void MapEmitter::emitPoint(const MapPlace &place) {
  auto element = [&] {
    Values elements;
    for (unsigned i = 0; i < problem.operands.size(); ++i)
      elements.push_back(i + 1 < problem.operands.size() || problem.readsOld ? loadScalar(i, place.bases[i]) : Value());
    storeScalar(emitBody(elements, 0), place.bases.back());
  };
  auto padding = [&] {
    choose(isInside(place, LaneGroup(), true), [&] { storeScalar(paddingValue(0), place.bases.back()); });
  };
  Value inside = isInside(place, LaneGroup(), false);
  if (problem.writesPadding())
    choose(inside, element, padding);
  else
    choose(inside, element);
}
