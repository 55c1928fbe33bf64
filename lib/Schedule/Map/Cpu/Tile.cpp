//===- Tile.cpp - Tiles: rows in, transposed, columns out ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tile has a row stage (load along the source; run the body if that narrows), the transposition, and a column stage
// (run the body if it widens; store along the destination). A stage without work is left out: registers are then loaded
// from the source, and columns stored from registers. Loops are rolled, because compile time depends on the number of
// operations. Full and partial tiles share them: conditions and masks exist if a limit may end a tile, and are true in
// full tiles.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

void MapEmitter::emitTile(const MapPlace &start) {
  MapPlace place = shiftedBack(start);
  if (plan.tile.network != TileNetwork::Squares)
    return emitInterleaving(place);
  choose(isInside(place, LaneGroup(), /*write=*/problem.writesPadding()), [&] { emitSquares(place); });
}

void MapEmitter::emitSquares(const MapPlace &place) {
  Value rows, columns;
  if (plan.tile.throughRows)
    rows = frameBuffer(plan.tile.scratchRows, plan.tile.moved);
  if (plan.tile.throughColumns)
    columns = frameBuffer(plan.tile.rows * plan.tile.columns, plan.tile.moved);
  if (rows)
    stageRows(place, rows);
  else if (plan.tile.prefetch)
    forLanes(plan.rows, 2, [&](ArrayRef<Value> digits, Value) { prefetchRow(advance(place, plan.rows, digits)); });
  auto transpose = [&](const MapPlace &here, Value fromRow) {
    transposeTile(here, rows, fromRow, columns);
    if (columns)
      stageColumns(here, columns);
  };
  if (plan.tile.repeat.parts.empty())
    return transpose(place, index(0));
  forLanes(plan.tile.repeat, 1, [&](ArrayRef<Value> digits, Value) {
    Value from = index(0);
    for (auto [part, digit] : llvm::zip_equal(plan.tile.repeat.parts, digits))
      from = add(from, mul(digit, plan.tile.inScratch[part.axis]));
    transpose(advance(place, plan.tile.repeat, digits), from);
  });
}

/// Moves a tile that would exceed a shifted axis back, so that both end together.
MapEmitter::MapPlace MapEmitter::shiftedBack(const MapPlace &start) {
  MapPlace place = start;
  for (auto [i, limit] : llvm::enumerate(problem.limits)) {
    if (limit.shifted < 0)
      continue;
    unsigned axis = limit.shifted;
    int64_t count = 1;
    for (const LaneGroup *group : {&plan.rows, &plan.columns})
      for (const Part &part : group->parts)
        count = part.axis == axis ? part.count : count;
    place = advance(place, axis, min(addTo(start.left[i], -count), 0));
  }
  return place;
}

/// Prefetches the row's part of a later tile.
void MapEmitter::prefetchRow(const MapPlace &here) {
  int64_t bytes = plan.columns.lanes() * plan.source().bytes();
  for (int64_t byte = 0; byte < bytes; byte += lineBytes)
    prefetchSource(add(here.bases[problem.source], plan.tile.prefetch + byte / plan.source().bytes()));
}

/// Covers the lanes of a group with as few vectors as possible: a loop if there are many, then powers of two for the
/// remainder. Calls f(place, lanes before the place, first, count).
void MapEmitter::forVectors(const MapPlace &place, const LaneGroup &group, int64_t most,
                            function_ref<void(const MapPlace &, Value, int64_t, int64_t)> f) {
  constexpr int64_t unrolled = 2;
  int64_t total = group.lanes(), first = 0;
  bool isPlain = group.parts.size() == 1, rolls = total / most > unrolled && (isPlain || plan.isStraight(group));
  if (rolls) {
    first = total / most * most;
    auto body = [&](Value at) {
      MapPlace there = place;
      if (isPlain)
        there = advance(place, group, at);
      else
        for (auto [operand, base] : llvm::zip_equal(problem.operands, there.bases))
          base = group.isContiguousIn(operand.strides) ? add(base, at) : base;
      f(there, at, 0, most);
    };
    forRange(0, first, body, most);
  }
  while (first < total) {
    int64_t count = std::min<int64_t>(most, llvm::bit_floor(static_cast<uint64_t>(total - first)));
    f(place, index(0), first, count);
    first += count;
  }
}

void MapEmitter::stageRows(const MapPlace &place, Value to) {
  const TilePlan &tile = plan.tile;
  bool hasBody = !problem.isCopy && !tile.bodyInColumns;
  int64_t most = hasBody ? plan.lanes : plan.strategy.vectorBytes / plan.source().bytes();
  forLanes(tile.outside, hasBody ? 1 : 2, [&](ArrayRef<Value> digits, Value) {
    MapPlace here = advance(place, tile.outside, digits);
    Value start = index(0);
    for (auto [part, digit] : llvm::zip_equal(tile.outside.parts, digits))
      start = add(start, mul(digit, tile.inScratch[part.axis]));
    auto put = [&](Value vector, Value lanes, int64_t first) { store(vector, to, add(add(start, lanes), first)); };
    auto move = [&] {
      forVectors(here, tile.run, most, [&](const MapPlace &there, Value lanes, int64_t first, int64_t count) {
        Value mask = tile.masksColumns ? laneMask(there, tile.run, first, count, /*write=*/false) : Value();
        bool begins = first == 0 && matchPattern(lanes, m_Zero());
        choose(anyLane(there, tile.run, first, count, /*write=*/false, begins, mask), [&] {
          put(hasBody ? compute(there, tile.run, first, count, mask)
                      : load(flat[problem.source], add(there.bases[problem.source], first), count, mask),
              lanes, first);
        });
      });
    };
    auto clear = [&] {
      forVectors(here, tile.run, most, [&](const MapPlace &, Value lanes, int64_t first, int64_t count) {
        put(tile.bodyInColumns ? zeros(vec(count, tile.moved)) : paddingValue(count), lanes, first);
      });
    };
    if (tile.prefetch)
      prefetchRow(here);
    Value inside = isInside(here, tile.run, /*write=*/false);
    if (problem.writesPadding())
      choose(inside, move, clear);
    else
      choose(inside, move);
  });
}

/// Returns the offset of lane `lane`, a run-time value, from the group's first lane.
Value MapEmitter::laneOffset(const LaneGroup &group, Value lane, ArrayRef<int64_t> perAxis) {
  Value sum = index(0);
  int64_t before = 1;
  if (matchPattern(lane, m_Zero()))
    return sum;
  for (const Part &part : group.parts) {
    Value digit = floorDiv(lane, before);
    if (&part != &group.parts.back())
      digit = mod(digit, part.count);
    if (perAxis[part.axis])
      sum = add(sum, mul(digit, perAxis[part.axis]));
    before *= part.count;
  }
  return sum;
}

void MapEmitter::forSteps(Index end, int64_t step, function_ref<void(Value)> f) {
  if (end == step)
    return f(index(0));
  const std::optional<int64_t> number = end.number();
  const bool isWhole = number && *number % step == 0;
  forRange(0, end, [&](Value at) { f(isWhole ? at : min(at, sub(end, step))); }, step);
}

void MapEmitter::transposeRegisters(function_ref<Value(Value, int64_t)> gather,
                                    function_ref<void(Value, ArrayRef<Value>)> sink) {
  const TilePlan &tile = plan.tile;
  if (const int64_t elements = transposeScratch(tile.moved, tile.lanes); elements && !between)
    between = frameBuffer(elements, tile.moved);
  transposeSquares(b, loc, tile.moved, tile.lanes, {gather, sink}, between, [&](int64_t i) { return index(i); });
}

/// Transposes from the source, or from `rows`, to the destination, or to `columns`. Both scratch buffers have the lanes
/// of a row, or column, contiguous.
void MapEmitter::transposeTile(const MapPlace &place, Value rows, Value fromRow, Value columns) {
  const TilePlan &tile = plan.tile;
  const Numbers rowStrides = rows ? tile.inScratch : knownOf(plan.source().strides),
                destinationStrides = knownOf(plan.destination().strides);
  int64_t unit = transposeUnit(tile.moved);
  Value aligned = plan.streams && tile.writesWholeLines && !columns ? isDestinationAligned() : Value();
  bool isLinear = rows && tile.outside.parts.size() == plan.rows.parts.size(),
       adds = plan.columns.parts.size() == 1 || (plan.columns.splitsAtPowers() && tile.columns % unit == 0);
  int64_t exist = plan.columns.lanes();
  forSteps(tile.columns, unit, [&](Value column) {
    forSteps(tile.rows, tile.lanes, [&](Value row) {
      Value known, base;
      auto gather = [&](Value from, int64_t at) {
        if (!base || from != known) {
          Value first = from ? add(row, from) : row;
          Value offset =
              isLinear ? mul(first, tile.inScratch[plan.rows.parts[0].axis]) : laneOffset(plan.rows, first, rowStrides);
          base = add(add(rows ? fromRow : place.bases[problem.source], column), offset);
          known = from;
        }
        return gatherRows(rows ? rows : flat[problem.source], at,
                          [&](int64_t lane) { return add(base, plan.rows.sum(lane, rowStrides)); });
      };
      auto sink = [&](Value from, ArrayRef<Value> vectors) {
        Value first = from ? add(column, from) : column;
        if (columns) {
          Value at = add(mul(first, tile.rows), row);
          for (auto [j, vector] : llvm::enumerate(vectors))
            store(vector, columns, add(at, j * tile.rows));
          return;
        }
        Value base = add(place.bases.back(), row);
        if (adds)
          base = add(base, laneOffset(plan.columns, first, destinationStrides));
        Values places;
        for (size_t j = 0; j < vectors.size(); ++j)
          places.push_back(adds ? add(base, plan.columns.sum(j, destinationStrides))
                                : add(base, laneOffset(plan.columns, add(first, j), destinationStrides)));
        auto storeAll = [&](bool streamed) {
          for (auto [j, vector] : llvm::enumerate(vectors)) {
            int64_t highest = from ? unit - static_cast<int64_t>(vectors.size() - j) : static_cast<int64_t>(j);
            if (tile.columns == exist || highest < exist)
              write(vector, places[j], Value(), streamed);
            else if (from)
              choose(isLess(add(first, j), exist), [&] { write(vector, places[j], Value(), streamed); });
          }
        };
        if (aligned)
          choose(aligned, [&] { storeAll(true); }, [&] { storeAll(false); });
        else
          storeAll(false);
      };
      transposeRegisters(gather, sink);
    });
  });
}

void MapEmitter::stageColumns(const MapPlace &place, Value from) {
  const TilePlan &tile = plan.tile;
  int64_t most = tile.bodyInColumns ? plan.lanes : plan.strategy.vectorBytes / plan.destination().bytes();
  Value aligned = plan.streams && tile.writesWholeLines ? isDestinationAligned() : Value();
  forLanes(plan.columns, 1, [&](ArrayRef<Value> digits, Value column) {
    MapPlace here = advance(place, plan.columns, digits);
    Value start = mul(column, tile.rows);
    auto begins = [&](Value lanes, int64_t first) { return first == 0 && matchPattern(lanes, m_Zero()); };
    auto put = [&](Value vector, const MapPlace &there, int64_t first, Value mask) {
      Value at = add(there.bases.back(), first);
      if (aligned && !mask)
        writeWhereAligned(vector, at, aligned);
      else
        write(vector, at, mask);
    };
    /// Calls f for each vector of which some lane is written.
    auto forWritten = [&](function_ref<void(const MapPlace &, Value, int64_t, int64_t, Value)> f) {
      forVectors(here, plan.rows, most, [&](const MapPlace &there, Value lanes, int64_t first, int64_t count) {
        Value mask = tile.masksRows ? laneMask(there, plan.rows, first, count, /*write=*/true) : Value();
        choose(anyLane(there, plan.rows, first, count, /*write=*/true, begins(lanes, first), mask),
               [&] { f(there, lanes, first, count, mask); });
      });
    };
    auto move = [&] {
      forWritten([&](const MapPlace &there, Value lanes, int64_t first, int64_t count, Value mask) {
        auto fromScratch = [&] { return load(from, add(add(start, lanes), first), count, Value()); };
        if (!tile.bodyInColumns)
          return put(fromScratch(), there, first, mask);
        Value read = laneMask(there, plan.rows, first, count, /*write=*/false);
        bool pads = read && problem.writesPadding();
        auto body = [&] {
          Value v = compute(there, plan.rows, first, count, read, fromScratch());
          put(pads ? create<arith::SelectOp>(read, v, paddingValue(count)).getResult() : v, there, first, mask);
        };
        if (!pads)
          return body(); // the elements that are read are those that are written
        Value any = anyLane(there, plan.rows, first, count, /*write=*/false, begins(lanes, first), read);
        choose(any, body, [&] { put(paddingValue(count), there, first, mask); });
      });
    };
    auto clear = [&] {
      forWritten([&](const MapPlace &there, Value, int64_t first, int64_t count, Value mask) {
        put(paddingValue(count), there, first, mask);
      });
    };
    Value read = isInside(here, plan.rows, /*write=*/false);
    if (!problem.writesPadding())
      return choose(read, move);
    choose(isInside(here, plan.rows, /*write=*/true), [&] { choose(read, move, clear); });
  });
}

Value MapEmitter::gatherRows(Value memref, int64_t at, function_ref<Value(int64_t)> placeOf) {
  const int64_t unit = transposeUnit(plan.tile.moved);
  Values pieces;
  for (int64_t row = at; row < plan.tile.lanes; row += unit)
    pieces.push_back(load(memref, placeOf(row), unit));
  return joinVectors(b, loc, pieces);
}

/// Returns whether the destination's buffer starts on a cache line and this call may use non-temporal stores.
Value MapEmitter::isDestinationAligned() {
  return atEntry([&] {
    Value rest = create<arith::AndIOp>(addressOf(flat.back(), 0), index(lineBytes - 1));
    return both(isEqual(rest, 0), mayStream());
  });
}
