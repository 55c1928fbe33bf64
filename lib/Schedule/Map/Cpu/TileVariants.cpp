//===- TileVariants.cpp - Tiles of open extents --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows of a tile are copied to scratch if the body runs on them, if strides map them to a few cache sets, or if the
// tile ends with partial squares: these are then transposed whole, and the elements past the end are not stored.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

void VariantEmitter::emitTiles() {
  const TilePlan &tile = plan.tile;
  if (tile.network != TileNetwork::Squares)
    return emitInterleaved();
  isFar = isLess(plan.strategy.l2Bytes, bytesMoved());
  staged = frameBuffer(tile.rows * tile.columns, tile.moved);
  if (!plan.masksEnds())
    spilled = frameBuffer(tile.lanes, tile.moved);
  // Non-temporal stores write whole cache lines only if every column starts on one.
  if (tile.lanes * plan.destination().bytes() % lineBytes == 0)
    streams = both(startsOn(lineBytes), movesMuch(plan.strategy.streamTilesBytes));
  SmallVector<MapLoop, 8> loops(plan.loops);
  const size_t last = loops.size() - 1;
  auto ofTiles = [&](bool isDirect) {
    forSpace(loops, [&](Places places, ArrayRef<Value> at) {
      const size_t ofRows = isDirect ? last : last - 1, ofColumns = isDirect ? last - 1 : last;
      emitTile(places[0], leftOf(loops[ofRows], at[ofRows]), leftOf(loops[ofColumns], at[ofColumns]), isDirect);
    });
  };
  if (!problem.isCopy && !tile.bodyInColumns)
    return ofTiles(/*isDirect=*/false);
  auto direct = [&] {
    std::swap(loops[last], loops[last - 1]); // all columns of some rows before the next rows
    ofTiles(/*isDirect=*/true);
  };
  auto near = [&] {
    if (!mayFold())
      return direct();
    const Folds folds = readFolds();
    choose(folds.isSmall, [&] { emitFolded(folds); }, direct);
  };
  fillRowSteps();
  choose(foldsRows(), [&] { ofTiles(/*isDirect=*/false); }, near);
}

/// Moves whole vectors of packed lanes, then single elements.
void VariantEmitter::emitInterleaved() {
  const bool packs = plan.tile.network == TileNetwork::Interleave;
  const unsigned few = packs ? along : across, many = packs ? across : along;
  forSpace(plan.loops, [&](Places places, ArrayRef<Value> at) {
    Index left = leftOf(plan.loops.back(), at.back()), whole = roundDown(left, plan.tile.lanes);
    auto chunk = [&](Value first) { emitInterleaving(advance(places[0], many, first)); };
    forRange(0, whole, chunk, plan.tile.lanes);
    forRange(whole, left, [&](Value element) {
      const MapPlace there = advance(places[0], many, element);
      forRange(0, extentOf(few), [&](Value lane) { moveElement(advance(there, few, lane)); });
    });
  });
}

/// Returns whether the source rows of a tile, or its partly written columns, map to so few L1 sets that they evict each
/// other before they are complete.
Value VariantEmitter::foldsRows() {
  const int64_t few = (32 << 10) / plan.tile.lanes;
  auto masked = [&](Index x, int64_t bits) { return create<arith::AndIOp>(index(x), index(bits)).getResult(); };
  Size ofRows = plan.source().strides[along] * plan.source().bytes();
  Value folds = isEqual(masked(ofRows, few - 1), 0);
  // Columns that start within cache lines evict each other if neighboring columns map to neighboring sets.
  Size ofColumns = plan.destination().strides[across] * plan.destination().bytes();
  Value isNear = isAtMost(masked(add(ofColumns, lineBytes), pageBytes - 1), 2 * lineBytes);
  Value isWithin = compare(arith::CmpIPredicate::ne, masked(ofColumns, lineBytes - 1), 0);
  return create<arith::OrIOp>(folds, both(isNear, isWithin));
}

void VariantEmitter::emitTile(const MapPlace &place, Index rows, Index columns, bool isDirect) {
  auto staged = [&] {
    stageRows(place, rows, columns);
    transpose(place, rows, columns);
  };
  if (!isDirect)
    return staged();
  const int64_t unit = transposeUnit(plan.tile.moved), lanes = plan.tile.lanes;
  Value isWhole = isEqual(mod(rows, lanes), 0);
  auto direct = [&] {
    auto plainly = [&] { transposeDirectly(place, rows, columns, Squares::Whole); };
    if (!streams) // a tile that is moved back starts within cache lines
      return plainly();
    choose(both(streams, isWhole), [&] { transposeDirectly(place, rows, columns, Squares::Streamed); }, plainly);
  };
  if (mayShift())
    choose(both(isAtMost(lanes, rows), isAtMost(unit, columns)), direct, staged);
  else
    choose(both(isWhole, isEqual(mod(columns, unit), 0)), direct, staged);
}

void VariantEmitter::stageRows(const MapPlace &place, Index rows, Index columns) {
  auto stage = [&](Index length) {
    forRange(0, rows, [&](Value row) { stageRow(advance(place, along, row), mul(row, plan.tile.columns), length); });
  };
  choose(isEqual(columns, plan.tile.columns), [&] { stage(plan.tile.columns); }, [&] { stage(columns); });
}

/// Copies one row of the source, after the body if it runs first, and prefetches the next tile's row.
void VariantEmitter::stageRow(const MapPlace &place, Value to, Index columns) {
  const bool hasBody = !problem.isCopy && !plan.tile.bodyInColumns;
  const unsigned source = problem.source;
  const int64_t whole = plan.tile.columns,
                lanes = std::min(whole, hasBody ? plan.lanes : plan.strategy.vectorBytes / plan.source().bytes());
  auto move = [&](Index at, Value mask) {
    const MapPlace there = advance(place, across, at);
    Value moved = hasBody ? compute(there, across, lanes, mask) : load(flat[source], there.bases[source], lanes, mask);
    store(moved, staged, add(to, at));
  };
  choose(isFar, [&] {
    for (int64_t next = 0; next < whole; next += lineBytes / plan.source().bytes())
      prefetchSource(add(place.bases[source], whole + next));
  });
  if (columns == whole) {
    for (int64_t at = 0; at < whole; at += lanes)
      move(at, Value());
    return;
  }
  Index end = roundDown(columns, lanes);
  forRange(0, end, [&](Value at) { move(at, Value()); }, lanes);
  if (plan.masksEnds())
    return choose(isLess(end, columns), [&] { move(end, prefixMask(sub(columns, end), lanes)); });
  forRange(end, columns, [&](Value at) {
    const MapPlace there = advance(place, across, at);
    storeScalar(hasBody ? computeElement(there) : elementAt(source, there.bases[source]), staged, add(to, at));
  });
}

/// Transposes squares of the scratch of rows into columns of the destination.
void VariantEmitter::transpose(const MapPlace &place, Index rows, Index columns) {
  const int64_t rowLength = plan.tile.columns;
  auto square = [&](Value column, Value row) {
    auto gather = [&](Value from, int64_t at) {
      Value base = add(mul(from ? add(row, from) : row, rowLength), column);
      return gatherRows(staged, at, [&](int64_t lane) { return add(base, lane * rowLength); });
    };
    transposeSquare(place, row, column, gather, rows, columns, Squares::Partial);
  };
  auto ofColumn = [&](Value column) { forRange(0, rows, [&](Value row) { square(column, row); }, plan.tile.lanes); };
  forRange(0, columns, ofColumn, transposeUnit(plan.tile.moved));
}
