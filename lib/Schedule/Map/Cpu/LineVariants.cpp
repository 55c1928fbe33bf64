//===- LineVariants.cpp - Lines of open lengths --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lines of a few vectors have separate loops.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Map/Cpu/Line.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

static constexpr int64_t maxShortVectors = 4; ///< maximum vectors of lines that have separate loops

void VariantEmitter::emitLines() {
  constexpr int64_t minVectors = 16; // minimum vectors of a line that uses non-temporal stores
  const Index length = extentOf(along);
  streams = both(movesMuch(plan.strategy.streamBytes), isAtMost(minVectors * plan.lanes, length));
  auto ofParts = [&] {
    forSpace(plan.loops, [&](Places places, ArrayRef<Value> at) {
      LineEmitter(*this, places[0]).emitOpen(leftOf(plan.loops.back(), at.back()), streams);
    });
  };
  const int64_t ops = plan.bodyOps() + static_cast<int64_t>(problem.operands.size());
  auto cached = [&] {
    if (ops * maxShortVectors > plan.strategy.stepOps)
      return ofParts();
    emitShort(length, std::min(fewestLanes, plan.lanes), ofParts);
  };
  if (plan.loops.size() < 3 || plan.streamedLanes * plan.destination().bytes() < lineBytes)
    return cached();
  Value isWhole = isEqual(mod(length, plan.streamedLanes), 0);
  choose(
      both(both(startsOn(lineBytes), isWhole), movesMuch(plan.strategy.streamBytes)), [&] { emitWholeLines(); },
      cached);
}

/// Moves permuted lines that are whole cache lines with non-temporal stores, in the order of the source, which the
/// hardware prefetcher follows.
void VariantEmitter::emitWholeLines() {
  auto move = [&](Places places, ArrayRef<Value> at) {
    LineEmitter(*this, places[0]).emitStreamed(leftOf(plan.loops.back(), at.back()));
  };
  forSpace(plan.loops, move, /*jamFactor=*/1, Order::Source);
}

/// Emits separate loops for lines of up to a few vectors of `lanes` lanes, and then for lines of wider vectors.
void VariantEmitter::emitShort(Index length, int64_t lanes, function_ref<void()> longer) {
  auto upTo = [&](int64_t most, function_ref<void()> then, function_ref<void()> otherwise) {
    choose(isAtMost(length, most), then, otherwise);
  };
  auto wider = [&] {
    if (lanes < plan.lanes)
      return emitShort(length, 2 * lanes, longer);
    if (!plan.masksEnds())
      return longer();
    upTo(
        3 * lanes, [&] { emitMaskedLines(lanes, 3); },
        [&] { upTo(4 * lanes, [&] { emitMaskedLines(lanes, 4); }, longer); });
  };
  // Blocks of channels are often exactly one vector.
  auto ofOneOrTwo = [&] {
    if (2 * lanes > plan.lanes)
      return emitOverlapping(lanes);
    choose(isEqual(length, 2 * lanes), [&] { emitPieces(2 * lanes, {0}, Value()); }, [&] { emitOverlapping(lanes); });
  };
  auto ofTwo = [&] { upTo(2 * lanes, ofOneOrTwo, wider); };
  if (lanes > std::min(fewestLanes, plan.lanes))
    return ofTwo();
  upTo(lanes - 1, [&] { plan.masksEnds() ? emitMaskedLines(lanes, 1) : emitElements(); }, ofTwo);
}

/// Moves each line as one vector from each of `starts`. All vectors of a group of lines are computed before any of them
/// is stored.
void VariantEmitter::emitPieces(int64_t lanes, ArrayRef<Index> starts, Value lastMask) {
  constexpr int64_t ahead = 1024;
  const ArrayRef<MapLoop> around = ArrayRef(plan.loops).drop_back();
  const auto count = static_cast<int64_t>(starts.size());
  const int64_t bytes = lanes * plan.source().bytes();
  const bool prefetches = !around.empty() && bytes >= lineBytes;
  auto move = [&](Places places, ArrayRef<Value>) {
    Values values, stored;
    for (const MapPlace &place : places)
      for (auto [i, start] : llvm::enumerate(starts)) {
        if (prefetches) // the hardware prefetcher does not follow short, non-contiguous lines
          prefetchSource(
              advance(advance(place, around.back().axis, std::max<int64_t>(1, ahead / (bytes * count))), along, start)
                  .bases[problem.source]);
        const MapPlace there = advance(place, along, start);
        const bool isLast = i + 1 == starts.size();
        values.push_back(compute(there, along, lanes, isLast ? lastMask : Value()));
        stored.push_back(there.bases.back());
      }
    for (auto [i, value] : llvm::enumerate(values))
      write(value, stored[i], (i + 1) % starts.size() ? Value() : lastMask);
  };
  const int64_t jamFactor = count == 1 && !lastMask ? 2 * maxShortVectors : maxShortVectors / count;
  forSpace(around, move, std::max<int64_t>(1, jamFactor));
}

/// Moves lines of `vectors` vectors, of which the last one is masked.
void VariantEmitter::emitMaskedLines(int64_t lanes, int64_t vectors) {
  SmallVector<Index> starts;
  for (int64_t v = 0; v < vectors; ++v)
    starts.push_back(v * lanes);
  emitPieces(lanes, starts, prefixMask(sub(extentOf(along), starts.back()), lanes));
}

/// Moves a line as one vector from its start and one that ends where it ends. The vectors are no wider than necessary,
/// because an access that crosses a cache line costs as much as two, whatever its mask.
void VariantEmitter::emitOverlapping(int64_t lanes) { emitPieces(lanes, {0, sub(extentOf(along), lanes)}, Value()); }

void VariantEmitter::emitElements() {
  forSpace(ArrayRef(plan.loops).drop_back(), [&](Places places, ArrayRef<Value>) {
    forRange(0, extentOf(along), [&](Value at) { moveElement(advance(places[0], along, at)); });
  });
}
