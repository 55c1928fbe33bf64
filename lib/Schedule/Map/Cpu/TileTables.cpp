//===- TileTables.cpp - Small tiles of open extents ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Blocked weights have tiles such as 9 by 16: short rows are not whole registers, short columns are not whole squares,
// and the checks of each tile are expensive compared with moving it. If another axis continues the columns in the
// source, or the rows in the destination, it is folded into the tile. Two tables, which each call fills once, then have
// the addresses of rows and columns.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

static constexpr int64_t maxTableEntries = 256; ///< maximum rows and maximum columns of a tile

bool VariantEmitter::mayFold() const { return mayShift() && problem.operands.size() == 2 && plan.loops.size() > 2; }

VariantEmitter::Folds VariantEmitter::readFolds() {
  Folds folds;
  const int64_t lanes = plan.tile.lanes, unit = transposeUnit(plan.tile.moved);
  const Value never = constant(b.getBoolAttr(false));
  auto either = [&](Value x, Value y) { return create<arith::OrIOp>(x, y).getResult(); };
  auto isCut = [&](Value count, int64_t of) { return compare(arith::CmpIPredicate::ne, mod(count, of), 0); };
  folds.rows = index(extentOf(along));
  folds.columns = index(extentOf(across));
  Values rowsGoOn, columnsGoOn;
  Value anyRows = never, anyColumns = never;
  for (const MapLoop &loop : ArrayRef(plan.loops).drop_back(2)) {
    rowsGoOn.push_back(isEqual(plan.destination().strides[loop.axis], folds.rows));
    columnsGoOn.push_back(isEqual(plan.source().strides[loop.axis], folds.columns));
    anyRows = either(anyRows, rowsGoOn.back());
    anyColumns = either(anyColumns, columnsGoOn.back());
  }
  Value fillsRows = isAtMost(lanes, folds.rows), fillsColumns = isAtMost(unit, folds.columns);
  folds.foldsColumns = both(both(anyColumns, fillsRows), isCut(folds.columns, unit));
  Value mayFoldRows = both(anyRows, isCut(folds.rows, lanes));
  folds.foldsRows = create<arith::SelectOp>(folds.foldsColumns, never, mayFoldRows);
  for (auto [ofRows, ofColumns] : llvm::zip_equal(rowsGoOn, columnsGoOn))
    folds.isFolded.push_back(either(both(folds.foldsRows, ofRows), both(folds.foldsColumns, ofColumns)));
  Value fits = both(isAtMost(folds.rows, plan.tile.rows), isAtMost(folds.columns, plan.tile.columns));
  Value folded = either(folds.foldsRows, folds.foldsColumns);
  folds.isSmall = both(fits, either(folded, both(fillsRows, fillsColumns)));
  return folds;
}

/// Fills a table: entry i * inner + j becomes the offset of index i of the outer loop and j of the inner one.
void VariantEmitter::fillTable(Value table, Value outer, Value outerStride, Value inner, Size innerStride) {
  forRange(0, outer, [&](Value i) {
    Value from = mul(i, inner), at = mul(i, outerStride);
    forRange(0, inner, [&](Value j) { storeScalar(add(at, mul(j, innerStride)), table, add(from, j)); });
  });
}

void VariantEmitter::emitFolded(const Folds &folds) {
  auto select = [&](Value condition, Value then, Value otherwise) {
    return create<arith::SelectOp>(condition, then, otherwise).getResult();
  };
  auto times = [&](Value doesFold, Value extent, Value count) { return select(doesFold, mul(extent, count), extent); };
  Nest nest = nestOf(ArrayRef(plan.loops).drop_back(2));
  readStrides(nest, nest.loops.size());
  Value swaps = folds.isFolded.front();
  for (size_t i = 0; i + 1 < nest.loops.size(); ++i) {
    swapWithNext(nest, i, swaps);
    swaps = create<arith::OrIOp>(swaps, folds.isFolded[i + 1]);
  }
  // The number of the innermost loop's indices that one tile covers.
  Value extent = select(folds.foldsRows, folds.rows, select(folds.foldsColumns, folds.columns, index(maxTableEntries)));
  Value most = index(floorDiv(maxTableEntries, extent)), count = min(most, nest.trips.back());
  const ArrayRef<Value> strides = nest.strides.back();
  rowsAt = frameBuffer(maxTableEntries, b.getIndexType());
  columnsAt = frameBuffer(maxTableEntries, b.getIndexType());
  fillTable(rowsAt, select(folds.foldsRows, count, index(1)), strides[problem.source], folds.rows,
            plan.source().strides[along]);
  fillTable(columnsAt, select(folds.foldsColumns, count, index(1)), strides.back(), folds.columns,
            plan.destination().strides[across]);
  auto emitRange = [&](const MapPlace &place, Value begin, Value end) {
    auto ofTile = [&](Value at) {
      Value own = min(sub(end, at), most);
      Value rows = times(folds.foldsRows, folds.rows, own), columns = times(folds.foldsColumns, folds.columns, own);
      const MapPlace there = advanceAlong(place, strides, at);
      auto bySquares = [&] {
        choose(
            folds.foldsRows, [&] { transposeByTables(there, rows, columns, /*foldsRows=*/true); },
            [&] { transposeByTables(there, rows, columns, /*foldsRows=*/false); });
      };
      Value hasSquares = both(isAtMost(plan.tile.lanes, rows), isAtMost(transposeUnit(plan.tile.moved), columns));
      choose(hasSquares, bySquares, [&] { moveByTables(there, rows, columns); });
    };
    forRange(begin, end, ofTile, most);
  };
  nest.ofRange = emitRange;
  emitSpace(nest);
}

void VariantEmitter::transposeByTables(const MapPlace &place, Value rows, Value columns, bool foldsRows) {
  const unsigned source = problem.source;
  auto square = [&](Value row, Value column) {
    Value start = add(place.bases[source], column);
    if (!foldsRows)
      start = add(start, mul(row, plan.source().strides[along]));
    auto gather = [&](Value from, int64_t at) {
      if (!foldsRows)
        return gatherFromSource(start, from, at);
      Value first = from ? add(row, from) : row;
      return gatherRows(flat[source], at,
                        [&](int64_t lane) { return add(start, loadScalar(rowsAt, add(first, lane))); });
    };
    auto sink = [&](Value from, ArrayRef<Value> vectors) {
      Value first = from ? add(column, from) : column;
      for (auto [j, vector] : llvm::enumerate(vectors)) {
        MapPlace there = place;
        there.bases.back() = add(add(there.bases.back(), row), loadScalar(columnsAt, add(first, j)));
        write(columnAt(there, vector), there.bases.back());
      }
    };
    transposeRegisters(gather, sink);
  };
  forSteps(rows, plan.tile.lanes, [&](Value row) {
    forSteps(columns, transposeUnit(plan.tile.moved), [&](Value column) { square(row, column); });
  });
}

/// Moves the elements of a tile one by one. The tile is smaller than a square, because it is the rest of a range.
void VariantEmitter::moveByTables(const MapPlace &place, Value rows, Value columns) {
  forRange(0, rows, [&](Value row) {
    forRange(0, columns, [&](Value column) {
      MapPlace there = place;
      Value &from = there.bases[problem.source], &to = there.bases.back();
      from = add(add(from, column), loadScalar(rowsAt, row));
      to = add(add(to, row), loadScalar(columnsAt, column));
      moveElement(there);
    });
  });
}
