//===- Line.cpp - Lines and points ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line is a loop of whole steps, followed by a loop of single vectors, the last of them partial. If a limit ends the
// line early, vectors are masked, and a second loop stores the value of a merged fill after it. Partial vectors are
// masked if the target masks all of the types; otherwise the remaining elements are moved one by one or, in lines of
// open length, by a vector that overlaps others.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Line.h"

#include "Schedule/Build/Transpose.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

LineEmitter::LineEmitter(MapEmitter &emitter, const MapPlace &place)
    : e(emitter), plan(emitter.plan), problem(emitter.problem), place(place), inner(plan.run), lanes(plan.lanes) {
  inner.parts.pop_back();
  vector = plan.run;
  vector.parts.back().count *= lanes; // lanes of a vector that are past the end of the run are masked
}

/// Returns the number of elements before a limit ends the run: partway for limits along its last part, 0 or all for
/// limits that do not vary along it. Limits along other parts become masks that repeat; if they exclude all lanes, the
/// number is 0.
Index LineEmitter::elementsLeft(bool write) {
  int64_t length = plan.run.lanes(), perIndex = inner.lanes();
  Index left = length;
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    if (!e.mayExceed(i, write))
      continue;
    Value own;
    if (int64_t weight = limit.weights[plan.run.parts.back().axis]) {
      own = e.room(place, i, write);
      if (weight > 1)
        own = e.create<arith::DivSIOp>(e.addTo(own, weight - 1), e.index(weight));
      own = e.mul(own, perIndex);
    } else {
      own = e.create<arith::SelectOp>(e.hasRoom(place, i, write), e.index(length), e.index(0));
    }
    left = e.create<arith::MinSIOp>(e.index(left), own); // a value even for two numbers: a limit ends the line
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

/// Returns true for an operand whose vectors are all equal: one element for all lanes, or a repeating pattern.
bool LineEmitter::isInvariant(unsigned operand) const {
  const Operand &own = problem.operands[operand];
  return own.strides[plan.run.parts.back().axis] == 0;
}

/// Reads operands that all vectors share, before the first vector. The line has at least one element.
void LineEmitter::readInvariants() {
  int64_t period = std::min(inner.lanes(), lanes);
  invariants.assign(problem.operands.size(), Value());
  for (unsigned i = 0; i < problem.operands.size(); ++i) {
    if (!problem.isRead(i) || !isInvariant(i))
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

/// Returns the number of bytes from the line's start to the next boundary of a non-temporal store.
Value LineEmitter::boundary() {
  Value start = e.addressOf(e.flat.back(), place.bases.back());
  return e.create<arith::AndIOp>(e.index(e.sub(0, start)),
                                 e.index(plan.streamedLanes * plan.destination().bytes() - 1));
}

Value LineEmitter::isAligned() {
  int64_t bytes = plan.streamedLanes * plan.destination().bytes();
  if (!plan.streams || bytes < 16 || repeatedReads || repeatedWrites)
    return Value();
  Value start = e.addressOf(e.flat.back(), place.bases.back());
  Value rest = e.create<arith::AndIOp>(start, e.index(bytes - 1));
  return e.both(e.isEqual(rest, 0), e.mayStream());
}

/// Emits the elements before the first boundary of a non-temporal store. Returns the number of the others.
Index LineEmitter::emitHead(Index reads) {
  Index head = e.min(e.floorDiv(boundary(), plan.destination().bytes()), reads);
  if (plan.streamedLanes == lanes)
    emitPartial(place, e.maskOfLeft(e.index(head), lanes), Value());
  else
    e.forRange(
        0, head, [&](Value at) { emitPartial(placeAt(at), e.maskOfLeft(e.index(e.sub(head, at)), lanes), Value()); },
        lanes);
  place = placeAt(head);
  return e.sub(reads, head);
}

LineEmitter::MapPlace LineEmitter::placeAt(Index at) {
  MapPlace there = place;
  for (auto [i, operand] : llvm::enumerate(problem.operands))
    if (!isInvariant(i))
      there.bases[i] = e.add(there.bases[i], e.mul(at, operand.strides[plan.run.parts[0].axis]));
  return there;
}

Value LineEmitter::valueAt(const MapPlace &at, Value mask) {
  MapEmitter::Values elements;
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    elements.push_back(invariants[i] || !problem.isRead(i) ? invariants[i]
                                                           : e.read(i, vector, 0, lanes, at.bases[i], mask));
  return e.emitBody(elements, lanes);
}

void LineEmitter::emitStep(Index at, int64_t vectors) {
  MapPlace first = placeAt(at);
  auto placeOf = [&](int64_t v) {
    MapPlace there = first;
    for (auto [i, operand] : llvm::enumerate(problem.operands))
      if (!isInvariant(i))
        there.bases[i] = e.add(there.bases[i], operand.strides[plan.run.parts[0].axis] * (v * lanes));
    return there;
  };
  if (repeatedReads || repeatedWrites) {
    for (int64_t v = 0; v < vectors; ++v)
      emitPartial(placeOf(v), repeatedReads, repeatedWrites);
    return;
  }
  MapEmitter::Values values;
  for (int64_t v = 0; v < vectors; ++v)
    values.push_back(valueAt(placeOf(v)));
  // A cache line that is streamed in parts occupies a buffer of the core for longer.
  auto store = [&](int64_t together, bool streamed) {
    for (auto [i, value] : llvm::enumerate(joinAdjacent(e.b, e.loc, values, together)))
      e.write(value, e.add(first.bases.back(), static_cast<int64_t>(i) * together * lanes), Value(), streamed);
  };
  int64_t together = plan.streamedLanes / lanes;
  if (!aligned || vectors % together)
    return store(1, false);
  e.choose(aligned, [&] { store(together, true); }, [&] { store(1, false); });
}

/// Emits the whole steps of the elements that are read; returns their end.
Index LineEmitter::emitSteps(Index reads) {
  int64_t step = lanes * plan.unroll;
  Index end = e.roundDown(reads, step);
  if (end == step)
    emitStep(0, plan.unroll);
  else if (end != 0)
    e.forRange(0, end, [&](Value at) { emitStep(at, plan.unroll); }, step);
  return end;
}

void LineEmitter::emitPartial(const MapPlace &at, Value readMask, Value writeMask) {
  Value value = valueAt(at, readMask);
  if (problem.writesPadding() && readMask)
    value = e.create<arith::SelectOp>(readMask, value, e.paddingValue(lanes));
  e.write(value, at.bases.back(), problem.writesPadding() ? writeMask : readMask);
}

void LineEmitter::emitRest(Index from, Index reads, Index writes) {
  if (!plan.masksEnds())
    return emitElements(from, reads);
  auto masked = [&](Value at, Index count, Value repeated) {
    return e.both(e.maskOfLeft(e.index(e.sub(count, at)), lanes), repeated);
  };
  auto partial = [&](Value at) {
    Value readMask = masked(at, reads, repeatedReads);
    bool differs = problem.writesPadding() && writes != reads;
    emitPartial(placeAt(at), readMask, differs ? masked(at, writes, repeatedWrites) : readMask);
  };
  std::optional<int64_t> number = reads.number();
  int64_t rest = number ? *number % (lanes * plan.unroll) : 0;
  if (!number || rest > lanes)
    e.forRange(from, reads, partial, lanes);
  else if (rest)
    emitPartial(placeAt(from), e.both(e.prefixMask(rest, lanes), repeatedReads),
                e.both(e.prefixMask(rest, lanes), repeatedWrites));
}

/// Emits single vectors while they are whole; returns their end.
Index LineEmitter::emitVectors(Index from, Index reads) {
  Index end = e.roundDown(reads, lanes);
  if (from != end)
    e.forRange(from, end, [&](Value at) { emitStep(at, 1); }, lanes);
  return end;
}

/// Emits single vectors while they are whole, then single elements.
void LineEmitter::emitElements(Index from, Index reads) {
  const int64_t step = lanes * plan.unroll, rest = reads.isNumber() ? *reads.number() % step : step - 1;
  if (rest >= lanes)
    from = emitVectors(from, reads);
  if (reads.isNumber() ? rest % lanes : lanes > 1)
    e.forRange(from, reads, [&](Value at) { e.moveElement(placeAt(at)); });
}

/// Stores the padding after the last vector that was partly read, or after the last element if nothing is masked.
void LineEmitter::emitPadding(Index reads, Index writes) {
  Index from = e.max(reads, 0);
  auto element = [&](Value at) { e.storeScalar(e.paddingValue(0), e.flat.back(), e.add(place.bases.back(), at)); };
  if (!plan.masksEnds())
    return e.forRange(from, writes, element);
  auto vector = [&](Value at) {
    Value mask = e.maskOfLeft(e.index(e.sub(writes, at)), lanes);
    e.write(e.paddingValue(lanes), e.add(place.bases.back(), at), e.both(mask, repeatedWrites));
  };
  e.forRange(e.roundDown(e.add(from, lanes - 1), lanes), writes, vector, lanes);
}

void LineEmitter::emitReads(Index reads, Index writes) {
  repeatedReads = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, false);
  repeatedWrites = inner.parts.empty() || !problem.writesPadding() ? Value() : e.laneMask(place, inner, 0, lanes, true);
  readInvariants();
  if (plan.peels)
    writes = reads = emitHead(reads);
  aligned = isAligned();
  Index from = emitSteps(reads);
  emitRest(from, reads, writes);
}

/// Emits a run of at most one vector, masked if something ends it.
void LineEmitter::emitShort(Index reads, Index writes) {
  auto maskOf = [&](Index count, bool write) {
    Value repeated = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, write);
    if (std::optional<int64_t> number = count.number())
      return *number < lanes ? e.both(e.prefixMask(*number, lanes), repeated) : repeated;
    return e.both(e.maskOfLeft(e.index(count), lanes), repeated);
  };
  Value writeMask = problem.writesPadding() ? maskOf(writes, true) : Value();
  auto move = [&] {
    readInvariants();
    aligned = isAligned();
    Value readMask = maskOf(reads, false);
    if (readMask || writeMask)
      emitPartial(place, readMask, writeMask);
    else
      emitStep(0, 1);
  };
  bool needsAny = mayBeBeyond(/*write=*/false); // a vector without an active lane must be skipped
  for (unsigned i = 0; i < problem.operands.size(); ++i)
    needsAny |= problem.isRead(i) && isInvariant(i); // this value is read whatever the mask
  Value any = reads.isNumber() || !needsAny ? Value() : e.isLess(0, reads);
  if (!problem.writesPadding())
    return e.choose(any, move);
  auto clear = [&] { e.write(e.paddingValue(lanes), place.bases.back(), writeMask); };
  Value anyWritten = writes.isNumber() || !mayBeBeyond(/*write=*/true) ? Value() : e.isLess(0, writes);
  e.choose(anyWritten, [&] { e.choose(any, move, clear); });
}

void LineEmitter::emit() {
  Index reads = elementsLeft(false);
  if (plan.run.lanes() <= lanes && plan.masksEnds())
    return emitShort(reads, problem.writesPadding() ? elementsLeft(true) : reads);
  if (reads.isNumber())
    return emitReads(reads, reads);
  Index writes = problem.writesPadding() ? elementsLeft(true) : reads;
  e.choose(e.isLess(0, reads), [&] { emitReads(reads, writes); });
  if (!problem.writesPadding())
    return;
  repeatedWrites = inner.parts.empty() ? Value() : e.laneMask(place, inner, 0, lanes, true);
  emitPadding(reads, writes);
}

void LineEmitter::emitStreamed(Index length) {
  readInvariants();
  aligned = e.constant(e.b.getBoolAttr(true));
  const int64_t together = plan.streamedLanes / lanes;
  e.forRange(emitSteps(length), length, [&](Value at) { emitStep(at, together); }, plan.streamedLanes);
}

/// Emits the whole steps. Their stores are non-temporal if the condition holds and the line starts on a boundary.
void LineEmitter::emitStepsWhereAligned(Index reads, Value streams) {
  auto steps = [&](bool streamed) {
    aligned = streamed ? e.constant(e.b.getBoolAttr(true)) : Value();
    emitSteps(reads);
  };
  e.choose(e.both(streams, e.isEqual(boundary(), 0)), [&] { steps(true); }, [&] { steps(false); });
}

/// Emits single vectors after the whole steps, then a masked one for the remainder.
void LineEmitter::emitMaskedEnd(Index reads) {
  aligned = Value();
  Index end = emitVectors(e.roundDown(reads, lanes * plan.unroll), reads);
  e.choose(e.isLess(end, reads), [&] {
    Value mask = e.prefixMask(e.sub(reads, end), lanes);
    emitPartial(placeAt(end), mask, mask);
  });
}

void LineEmitter::emitOpen(Index length, Value streams) {
  if (!plan.masksEnds())
    return emitOverlapping(length, streams);
  readInvariants();
  auto streamed = [&] {
    LineEmitter rest = *this;
    Index left = rest.emitHead(length);
    rest.emitStepsWhereAligned(left, Value());
    rest.emitMaskedEnd(left);
  };
  e.choose(streams, streamed, [&] {
    emitSteps(length);
    emitMaskedEnd(length);
  });
}

/// Emits a line without masks: its last vector ends where the line ends. It is computed before anything is stored,
/// because the line may be its own source.
void LineEmitter::emitOverlapping(Index length, Value streams) {
  auto whole = [&] {
    readInvariants();
    const MapPlace ending = placeAt(e.sub(length, lanes));
    Value last = valueAt(ending);
    emitStepsWhereAligned(length, streams);
    aligned = Value();
    emitVectors(e.roundDown(length, lanes * plan.unroll), length);
    e.write(last, ending.bases.back());
  };
  e.choose(e.isAtMost(lanes, length), whole, [&] { emitFew(length); });
}

/// Emits a line of fewer elements than lanes: two overlapping vectors of half the lanes or fewer, or single elements.
void LineEmitter::emitFew(Index length) {
  LineEmitter half = *this;
  half.lanes /= 2;
  if (half.lanes < fewestLanes)
    return e.forRange(0, length, [&](Value at) { e.moveElement(placeAt(at)); });
  auto two = [&] {
    half.readInvariants();
    const MapPlace ending = placeAt(e.sub(length, half.lanes));
    Value first = half.valueAt(place), last = half.valueAt(ending);
    e.write(first, place.bases.back());
    e.write(last, ending.bases.back());
  };
  e.choose(e.isAtMost(half.lanes, length), two, [&] { half.emitFew(length); });
}

void MapEmitter::emitLine(const MapPlace &place) { LineEmitter(*this, place).emit(); }

void MapEmitter::emitPoint(const MapPlace &place) {
  auto element = [&] { moveElement(place); };
  auto padding = [&] {
    choose(isInside(place, LaneGroup(), true), [&] { storeScalar(paddingValue(0), flat.back(), place.bases.back()); });
  };
  Value inside = isInside(place, LaneGroup(), false);
  if (problem.writesPadding())
    choose(inside, element, padding);
  else
    choose(inside, element);
}
