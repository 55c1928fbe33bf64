//===- OpenSquares.cpp - Squares of tiles with open sizes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A square has the number of rows that a register has lanes. If elements may be computed twice, the last squares of a
// tile are moved back to end with it, so that all are whole.
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

/// Returns true if elements may be computed twice, so that the last squares of a tile may overlap others.
bool OpenEmitter::mayShift() const { return !plan.problem.readsOld && !plan.problem.mayBeInPlace; }

/// Transposes whole squares directly from the source, one cache line of each row at a time.
void OpenEmitter::transposeDirectly(const MapPlace &place, Value rows, Value columns, Squares how) {
  const unsigned source = plan.problem.source;
  const int64_t unit = transposeUnit(plan.moved), lanes = plan.tileLanes,
                line = std::max(unit, lineBytes / plan.source().bytes());
  // Prefetch distance: the next cache line of the row if it has one; otherwise rows that are read soon.
  Value ahead = create<arith::SelectOp>(less(index(line), index(plan.problem.axes[plan.across].extent)), index(line),
                                        scaled(index(2 * lanes), plan.source().strides[plan.along]));
  auto ofLine = [&](Value begin) {
    Value end = least(add(begin, line), columns);
    forRange(
        index(0), rows,
        [&](Value counted) {
          Value row = mayShift() ? least(counted, difference(rows, index(lanes))) : counted;
          const MapPlace first = advance(place, plan.along, row);
          choose(isFar, [&] {
            for (int64_t lane = 0; lane < lanes; ++lane)
              prefetch(add(advance(first, plan.along, index(lane))[source], add(begin, ahead)));
          });
          forRange(
              begin, end,
              [&](Value at) {
                Value column = mayShift() ? least(at, difference(columns, index(unit))) : at;
                Value there = advance(first, plan.across, column)[source];
                auto gather = [&](Value from, int64_t at) { return gatherRows(there, from, at); };
                transposeSquare(place, row, column, gather, rows, columns, how);
              },
              unit);
        },
        lanes);
  };
  forRange(index(0), columns, ofLine, line);
}

void OpenEmitter::fillRowSteps() {
  const int64_t unit = transposeUnit(plan.moved);
  rowSteps = scratch(unit, b.getIndexType());
  for (int64_t row = 0; row < unit; ++row)
    create<memref::StoreOp>(scaled(index(row), plan.source().strides[plan.along]), rowSteps, ValueRange{index(row)});
}

/// Loads the register with rows from + at, from + at + unit, … of the source.
OpenEmitter::Value OpenEmitter::gatherRows(Value start, Value from, int64_t at) {
  const int64_t unit = transposeUnit(plan.moved);
  const Size stride = plan.source().strides[plan.along];
  if (from)
    start = add(start, scaled(from, stride));
  Values pieces;
  for (int64_t lane = 0; lane < plan.tileLanes; lane += unit) {
    Value place = add(start, scaled(index(lane), stride));
    if (at)
      place = add(place, create<memref::LoadOp>(rowSteps, ValueRange{index(at)}));
    pieces.push_back(load(flat[plan.problem.source], place, unit));
  }
  return joinVectors(b, loc, pieces);
}

/// Transposes squares of registers that `gather` loads, and stores them as columns of the destination.
void OpenEmitter::transposeSquare(const MapPlace &place, Value row, Value column,
                                  function_ref<Value(Value, int64_t)> gather, Value rows, Value columns, Squares how) {
  auto sink = [&](Value from, ArrayRef<Value> vectors) {
    Value first = from ? add(column, from) : column;
    const MapPlace there = advance(advance(place, plan.along, row), plan.across, first);
    if (how == Squares::Partial)
      storeColumns(there, vectors, difference(rows, row), difference(columns, first));
    else
      storeWholeColumns(there, vectors, how == Squares::Streamed);
  };
  transposeSquares(b, loc, plan.moved, plan.tileLanes, {gather, sink}, between, [&](int64_t i) { return index(i); });
}

void OpenEmitter::storeWholeColumns(const MapPlace &place, ArrayRef<Value> columns, bool streamed) {
  for (auto [j, column] : llvm::enumerate(columns)) {
    const MapPlace there = advance(place, plan.across, index(static_cast<int64_t>(j)));
    Value value = plan.bodyIsLate ? valueAt(there, plan.along, plan.tileLanes, Value(), column) : column;
    store(value, there.back(), Value(), streamed);
  }
}

/// Stores consecutive columns, limited to the remaining rows and columns.
void OpenEmitter::storeColumns(const MapPlace &place, ArrayRef<Value> columns, Value rowsLeft, Value columnsLeft) {
  const auto count = static_cast<int64_t>(columns.size());
  Value isWhole = both(notMore(index(count), columnsLeft), notMore(index(plan.tileLanes), rowsLeft));
  auto whole = [&] {
    if (streams)
      choose(
          streams, [&] { storeWholeColumns(place, columns, /*streamed=*/true); },
          [&] { storeWholeColumns(place, columns, /*streamed=*/false); });
    else
      storeWholeColumns(place, columns, /*streamed=*/false);
  };
  choose(isWhole, whole, [&] {
    for (int64_t j = 0; j < count; ++j)
      choose(less(index(j), columnsLeft),
             [&] { storeColumn(advance(place, plan.across, index(j)), columns[j], rowsLeft); });
  });
}

/// Stores one column, limited to the remaining rows.
void OpenEmitter::storeColumn(const MapPlace &place, Value column, Value rowsLeft) {
  Value left = least(rowsLeft, index(plan.tileLanes));
  if (plan.isMasked) {
    Value mask = prefixMask(left, plan.tileLanes);
    Value value = plan.bodyIsLate ? valueAt(place, plan.along, plan.tileLanes, mask, column) : column;
    return store(value, place.back(), mask);
  }
  create<vector::StoreOp>(column, spilled, ValueRange{index(0)});
  forRange(index(0), left, [&](Value lane) {
    Value element = create<memref::LoadOp>(spilled, ValueRange{lane});
    const MapPlace there = advance(place, plan.along, lane);
    if (plan.bodyIsLate)
      moveElement(there, element);
    else
      create<memref::StoreOp>(element, flat.back(), ValueRange{there.back()});
  });
}
