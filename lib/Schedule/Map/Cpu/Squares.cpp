//===- Squares.cpp - Squares of tiles of open extents --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Here, a square has one row for each lane of a register. If elements may be computed twice, the last squares of a tile
// are moved back to end with it, so that all are whole.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

/// Returns true if elements may be computed twice, so that the last squares of a tile may overlap others.
bool VariantEmitter::mayShift() const { return !problem.readsOld && !problem.mayBeInPlace; }

/// Transposes whole squares directly from the source, one cache line of each row at a time.
void VariantEmitter::transposeDirectly(const MapPlace &place, Index rows, Index columns, Squares how) {
  const unsigned source = problem.source;
  const int64_t unit = transposeUnit(plan.tile.moved), lanes = plan.tile.lanes,
                line = std::max(unit, lineBytes / plan.source().bytes());
  // Prefetch distance: the next cache line of the row if it has one; otherwise rows that are read soon.
  Value ahead = create<arith::SelectOp>(isLess(line, extentOf(across)), index(line),
                                        index(plan.source().strides[along] * (2 * lanes)));
  auto inTile = [&](Value at, Index extent, int64_t step) { return mayShift() ? min(at, sub(extent, step)) : at; };
  auto ofLine = [&](Value begin) {
    Index end = min(add(begin, line), columns);
    auto ofRows = [&](Value counted) {
      Value row = inTile(counted, rows, lanes);
      const MapPlace first = advance(place, along, row);
      choose(isFar, [&] {
        for (int64_t lane = 0; lane < lanes; ++lane)
          prefetchSource(add(advance(first, along, lane).bases[source], add(begin, ahead)));
      });
      auto square = [&](Value at) {
        Value column = inTile(at, columns, unit), there = advance(first, across, column).bases[source];
        auto gather = [&](Value from, int64_t row) { return gatherFromSource(there, from, row); };
        transposeSquare(place, row, column, gather, rows, columns, how);
      };
      forRange(begin, end, square, unit);
    };
    forRange(0, rows, ofRows, lanes);
  };
  forRange(0, columns, ofLine, line);
}

void VariantEmitter::fillRowSteps() {
  const int64_t unit = transposeUnit(plan.tile.moved);
  rowSteps = frameBuffer(unit, b.getIndexType());
  for (int64_t row = 0; row < unit; ++row)
    storeScalar(index(plan.source().strides[along] * row), rowSteps, row);
}

/// Loads the register with rows from + at, from + at + unit, … of the source.
Value VariantEmitter::gatherFromSource(Value start, Value from, int64_t at) {
  const Size stride = plan.source().strides[along];
  if (from)
    start = add(start, mul(from, stride));
  return gatherRows(flat[problem.source], at, [&](int64_t row) {
    Value place = add(start, stride * (row - at));
    return at ? add(place, loadScalar(rowSteps, at)) : place;
  });
}

/// Transposes squares of registers that `gather` loads, and stores them as columns of the destination.
void VariantEmitter::transposeSquare(const MapPlace &place, Value row, Value column,
                                     function_ref<Value(Value, int64_t)> gather, Index rows, Index columns,
                                     Squares how) {
  auto sink = [&](Value from, ArrayRef<Value> vectors) {
    Value first = from ? add(column, from) : column;
    const MapPlace there = advance(advance(place, along, row), across, first);
    if (how == Squares::Partial)
      storeColumns(there, vectors, sub(rows, row), sub(columns, first));
    else
      storeWholeColumns(there, vectors, how == Squares::Streamed);
  };
  transposeRegisters(gather, sink);
}

/// Returns the elements of a column, after the body if it runs late.
Value VariantEmitter::columnAt(const MapPlace &place, Value column, Value mask) {
  return plan.tile.bodyInColumns ? compute(place, along, plan.tile.lanes, mask, column) : column;
}

void VariantEmitter::storeWholeColumns(const MapPlace &place, ArrayRef<Value> columns, bool streamed) {
  for (auto [j, column] : llvm::enumerate(columns)) {
    const MapPlace there = advance(place, across, static_cast<int64_t>(j));
    write(columnAt(there, column), there.bases.back(), Value(), streamed);
  }
}

/// Stores consecutive columns, limited to the remaining rows and columns.
void VariantEmitter::storeColumns(const MapPlace &place, ArrayRef<Value> columns, Index rowsLeft, Index columnsLeft) {
  const auto count = static_cast<int64_t>(columns.size());
  Value isWhole = both(isAtMost(count, columnsLeft), isAtMost(plan.tile.lanes, rowsLeft));
  auto plainly = [&] { storeWholeColumns(place, columns, /*streamed=*/false); };
  auto whole = [&] {
    if (!streams)
      return plainly();
    choose(streams, [&] { storeWholeColumns(place, columns, /*streamed=*/true); }, plainly);
  };
  choose(isWhole, whole, [&] {
    for (int64_t j = 0; j < count; ++j)
      choose(isLess(j, columnsLeft), [&] { storeColumn(advance(place, across, j), columns[j], rowsLeft); });
  });
}

/// Stores one column, limited to the remaining rows.
void VariantEmitter::storeColumn(const MapPlace &place, Value column, Index rowsLeft) {
  Index left = min(rowsLeft, plan.tile.lanes);
  if (plan.masksEnds()) {
    Value mask = prefixMask(left, plan.tile.lanes);
    return write(columnAt(place, column, mask), place.bases.back(), mask);
  }
  store(column, spilled, 0);
  forRange(0, left, [&](Value lane) {
    Value element = loadScalar(spilled, lane);
    const MapPlace there = advance(place, along, lane);
    if (plan.tile.bodyInColumns)
      moveElement(there, element);
    else
      storeScalar(element, flat.back(), there.bases.back());
  });
}
