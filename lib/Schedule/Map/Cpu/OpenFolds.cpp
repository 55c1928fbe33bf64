//===- OpenFolds.cpp - Small tiles with open sizes ------------------------===//
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
#include "Schedule/Map/Cpu/OpenEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

static constexpr int64_t maxTableEntries = 256; ///< maximum rows and maximum columns of a tile

bool OpenEmitter::mayFold() const { return mayShift() && plan.problem.operands.size() == 2 && plan.loops.size() > 2; }

OpenEmitter::Folds OpenEmitter::readFolds() {
  Folds folds;
  const Value lanes = index(plan.tileLanes), unit = index(transposeUnit(plan.moved)), zero = index(0);
  auto is = [&](Value a, Value b) { return compare(arith::CmpIPredicate::eq, a, b); };
  auto either = [&](Value a, Value b) { return create<arith::OrIOp>(a, b).getResult(); };
  auto isCut = [&](Value count, Value of) {
    return compare(arith::CmpIPredicate::ne, create<arith::RemUIOp>(count, of), zero);
  };
  folds.rows = index(plan.problem.axes[plan.along].extent);
  folds.columns = index(plan.problem.axes[plan.across].extent);
  Values rowsGoOn, columnsGoOn;
  Value anyRows = is(zero, index(1)), anyColumns = anyRows;
  for (const MapLoop &loop : ArrayRef(plan.loops).drop_back(2)) {
    rowsGoOn.push_back(is(index(plan.destination().strides[loop.axis]), folds.rows));
    columnsGoOn.push_back(is(index(plan.source().strides[loop.axis]), folds.columns));
    anyRows = either(anyRows, rowsGoOn.back());
    anyColumns = either(anyColumns, columnsGoOn.back());
  }
  Value fillsRows = notMore(lanes, folds.rows), fillsColumns = notMore(unit, folds.columns);
  folds.foldsColumns = both(both(anyColumns, fillsRows), isCut(folds.columns, unit));
  Value mayFoldRows = both(anyRows, isCut(folds.rows, lanes));
  folds.foldsRows = create<arith::SelectOp>(folds.foldsColumns, is(zero, index(1)), mayFoldRows);
  for (auto [ofRows, ofColumns] : llvm::zip_equal(rowsGoOn, columnsGoOn))
    folds.isFolded.push_back(either(both(folds.foldsRows, ofRows), both(folds.foldsColumns, ofColumns)));
  Value fits = both(notMore(folds.rows, index(plan.rows)), notMore(folds.columns, index(plan.columns)));
  Value folded = either(folds.foldsRows, folds.foldsColumns);
  folds.isSmall = both(fits, either(folded, both(fillsRows, fillsColumns)));
  return folds;
}

/// Entry i * inner + j is the address of index i of the outer loop and j of the inner one.
void OpenEmitter::fillTable(Value table, Value outer, Value outerStride, Value inner, Size innerStride) {
  forRange(index(0), outer, [&](Value i) {
    Value from = create<arith::MulIOp>(i, inner), at = create<arith::MulIOp>(i, outerStride);
    forRange(index(0), inner, [&](Value j) {
      create<memref::StoreOp>(add(at, scaled(j, innerStride)), table, ValueRange{add(from, j)});
    });
  });
}

void OpenEmitter::emitFolded(const Folds &folds) {
  auto select = [&](Value condition, Value then, Value otherwise) {
    return create<arith::SelectOp>(condition, then, otherwise).getResult();
  };
  auto times = [&](Value doesFold, Value extent, Value count) {
    return select(doesFold, create<arith::MulIOp>(extent, count), extent);
  };
  Nest nest = nestOf(ArrayRef(plan.loops).drop_back(2));
  readStrides(nest, nest.loops.size());
  Value swaps = folds.isFolded.front();
  for (size_t i = 0; i + 1 < nest.loops.size(); ++i) {
    swapWithNext(nest, i, swaps);
    swaps = create<arith::OrIOp>(swaps, folds.isFolded[i + 1]);
  }
  // The number of the innermost loop's indices that one tile covers.
  Value extent = select(folds.foldsRows, folds.rows, select(folds.foldsColumns, folds.columns, index(maxTableEntries)));
  Value most = create<arith::DivUIOp>(index(maxTableEntries), extent);
  Value count = least(most, nest.trips.back());
  const ArrayRef<Value> strides = nest.strides.back();
  rowsAt = scratch(maxTableEntries, b.getIndexType());
  columnsAt = scratch(maxTableEntries, b.getIndexType());
  fillTable(rowsAt, select(folds.foldsRows, count, index(1)), strides[plan.problem.source], folds.rows,
            plan.source().strides[plan.along]);
  fillTable(columnsAt, select(folds.foldsColumns, count, index(1)), strides.back(), folds.columns,
            plan.destination().strides[plan.across]);
  auto emitRange = [&](const MapPlace &place, Value begin, Value end) {
    loop(begin, end, most, {}, [&](Value at, const Values &) {
      Value own = least(difference(end, at), most);
      Value rows = times(folds.foldsRows, folds.rows, own), columns = times(folds.foldsColumns, folds.columns, own);
      const MapPlace there = advance(place, strides, at);
      choose(
          both(notMore(index(plan.tileLanes), rows), notMore(index(transposeUnit(plan.moved)), columns)),
          [&] {
            choose(
                folds.foldsRows, [&] { transposeByTables(there, rows, columns, /*foldsRows=*/true); },
                [&] { transposeByTables(there, rows, columns, /*foldsRows=*/false); });
          },
          [&] { moveByTables(there, rows, columns); });
      return Values();
    });
  };
  nest.ofRange = emitRange;
  emitSpace(nest);
}

void OpenEmitter::transposeByTables(const MapPlace &place, Value rows, Value columns, bool foldsRows) {
  const unsigned source = plan.problem.source;
  const int64_t unit = transposeUnit(plan.moved), lanes = plan.tileLanes;
  auto entry = [&](Value table, Value at) { return create<memref::LoadOp>(table, ValueRange{at}).getResult(); };
  auto square = [&](Value row, Value column) {
    Value start = add(place[source], column);
    if (!foldsRows)
      start = add(start, scaled(row, plan.source().strides[plan.along]));
    auto gather = [&](Value from, int64_t at) {
      if (!foldsRows)
        return gatherRows(start, from, at);
      Value first = from ? add(row, from) : row;
      Values pieces;
      for (int64_t lane = at; lane < lanes; lane += unit)
        pieces.push_back(load(flat[source], add(start, entry(rowsAt, add(first, lane))), unit));
      return joinVectors(b, loc, pieces);
    };
    auto sink = [&](Value from, ArrayRef<Value> vectors) {
      Value first = from ? add(column, from) : column;
      for (auto [j, vector] : llvm::enumerate(vectors)) {
        MapPlace there = place;
        there.back() = add(add(there.back(), row), entry(columnsAt, add(first, static_cast<int64_t>(j))));
        store(plan.bodyIsLate ? valueAt(there, plan.along, lanes, Value(), vector) : vector, there.back());
      }
    };
    transposeSquares(b, loc, plan.moved, lanes, {gather, sink}, between, [&](int64_t i) { return index(i); });
  };
  Value lastRow = difference(rows, index(lanes)), lastColumn = difference(columns, index(unit));
  forRange(
      index(0), rows,
      [&](Value row) {
        forRange(
            index(0), columns, [&](Value column) { square(least(row, lastRow), least(column, lastColumn)); }, unit);
      },
      lanes);
}

/// Moves the elements of a tile that is split between calls.
void OpenEmitter::moveByTables(const MapPlace &place, Value rows, Value columns) {
  auto entry = [&](Value table, Value at) { return create<memref::LoadOp>(table, ValueRange{at}).getResult(); };
  forRange(index(0), rows, [&](Value row) {
    forRange(index(0), columns, [&](Value column) {
      MapPlace there = place;
      Value &from = there[plan.problem.source], &to = there.back();
      from = add(add(from, column), entry(rowsAt, row));
      to = add(add(to, row), entry(columnsAt, column));
      moveElement(there);
    });
  });
}
