//===- OpenTile.cpp - Tiles with open sizes -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows of a tile are copied to scratch, so that source strides that map them to a few cache sets cost nothing, and so
// that squares can be transposed whole at the end of the tile; the elements past the end are not stored.
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

void OpenEmitter::emitTiles() {
  if (plan.network != TileNetwork::Squares)
    return emitInterleaved();
  isFar = less(index(plan.strategy.l2Bytes), bytesMoved());
  staged = scratch(plan.rows * plan.columns, plan.moved);
  if (const int64_t elements = transposeScratch(plan.moved, plan.tileLanes))
    between = scratch(elements, plan.moved);
  if (!plan.isMasked)
    spilled = scratch(plan.tileLanes, plan.moved);
  // Non-temporal stores write whole cache lines only if every column starts on one.
  const int64_t bytes = plan.destination().bytes();
  if (plan.tileLanes * bytes % lineBytes == 0)
    streams = both(startsOn(lineBytes), movesMuch(plan.strategy.streamTilesBytes));
  SmallVector<MapLoop, 6> loops(plan.loops);
  const size_t last = loops.size() - 1;
  auto ofTiles = [&](bool isDirect) {
    forSpace(loops, [&](ArrayRef<MapPlace> places, ArrayRef<Value> at) {
      const size_t ofRows = isDirect ? last : last - 1, ofColumns = isDirect ? last - 1 : last;
      emitTile(places[0], leftOf(loops[ofRows], at[ofRows]), leftOf(loops[ofColumns], at[ofColumns]), isDirect);
    });
  };
  if (!plan.problem.isCopy && !plan.bodyIsLate)
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

/// Returns whether the source rows of a tile map to so few L1 sets that they evict each other before all of their
/// pieces are read.
OpenEmitter::Value OpenEmitter::foldsRows() {
  const int64_t few = (32 << 10) / plan.tileLanes;
  Value bytes = scaled(index(plan.source().strides[plan.along]), plan.source().bytes());
  Value folds = compare(arith::CmpIPredicate::eq, create<arith::AndIOp>(bytes, index(few - 1)), index(0));
  // Columns that start within cache lines evict each other if neighboring columns map to neighboring sets.
  Value ofColumns = scaled(index(plan.destination().strides[plan.across]), plan.destination().bytes());
  Value near = create<arith::AndIOp>(add(ofColumns, lineBytes), index(pageBytes - 1));
  Value within = create<arith::AndIOp>(ofColumns, index(lineBytes - 1));
  Value crowds = both(notMore(near, index(2 * lineBytes)), compare(arith::CmpIPredicate::ne, within, index(0)));
  return create<arith::OrIOp>(folds, crowds);
}

void OpenEmitter::emitTile(const MapPlace &place, Value rows, Value columns, bool isDirect) {
  auto staged = [&] {
    stageRows(place, rows, columns);
    transpose(place, rows, columns);
  };
  if (!isDirect)
    return staged();
  const int64_t unit = transposeUnit(plan.moved);
  auto rest = [&](Value count, int64_t of) { return create<arith::RemUIOp>(count, index(of)).getResult(); };
  Value ofRows = rest(rows, plan.tileLanes);
  auto direct = [&] {
    auto isWhole = [&] { return compare(arith::CmpIPredicate::eq, ofRows, index(0)); };
    auto plainly = [&] { transposeDirectly(place, rows, columns, Squares::Whole); };
    if (!streams) // a tile that is moved back starts within cache lines
      return plainly();
    choose(both(streams, isWhole()), [&] { transposeDirectly(place, rows, columns, Squares::Streamed); }, plainly);
  };
  if (mayShift())
    return choose(both(notMore(index(plan.tileLanes), rows), notMore(index(unit), columns)), direct, staged);
  Value left = create<arith::OrIOp>(ofRows, rest(columns, unit));
  choose(compare(arith::CmpIPredicate::eq, left, index(0)), direct, staged);
}

void OpenEmitter::stageRows(const MapPlace &place, Value rows, Value columns) {
  auto stage = [&](bool isWhole) {
    forRange(index(0), rows, [&](Value row) {
      stageRow(advance(place, plan.along, row), scaled(row, plan.columns), columns, isWhole);
    });
  };
  choose(
      compare(arith::CmpIPredicate::eq, columns, index(plan.columns)), [&] { stage(/*isWhole=*/true); },
      [&] { stage(/*isWhole=*/false); });
}

/// Copies one row of the source, after the body if it runs first, and prefetches the next tile's row; addresses past
/// the end are harmless.
void OpenEmitter::stageRow(const MapPlace &place, Value to, Value columns, bool isWhole) {
  const bool hasBody = !plan.problem.isCopy && !plan.bodyIsLate;
  const unsigned source = plan.problem.source;
  const int64_t lanes =
      std::min(plan.columns, hasBody ? plan.lanes : plan.strategy.vectorBytes / plan.source().bytes());
  auto move = [&](Value at, Value mask) {
    const MapPlace there = advance(place, plan.across, at);
    Value moved = hasBody ? valueAt(there, plan.across, lanes, mask) : load(flat[source], there[source], lanes, mask);
    create<vector::StoreOp>(moved, staged, ValueRange{add(to, at)});
  };
  const int64_t ahead = plan.columns, line = lineBytes / plan.source().bytes();
  choose(isFar, [&] {
    for (int64_t next = 0; next < plan.columns; next += line)
      prefetch(add(place[source], ahead + next));
  });
  if (isWhole) {
    for (int64_t at = 0; at < plan.columns; at += lanes)
      move(index(at), Value());
    return;
  }
  Value end = wholeSteps(columns, lanes);
  forRange(index(0), end, [&](Value at) { move(at, Value()); }, lanes);
  if (plan.isMasked) {
    choose(less(end, columns), [&] { move(end, prefixMask(difference(columns, end), lanes)); });
    return;
  }
  forRange(end, columns, [&](Value at) {
    const MapPlace there = advance(place, plan.across, at);
    Value element;
    if (hasBody) {
      Values elements;
      for (unsigned i = 0; i < plan.problem.operands.size(); ++i)
        elements.push_back(plan.isRead(i) ? create<memref::LoadOp>(flat[i], ValueRange{there[i]}).getResult()
                                          : Value());
      element = emitBody(*this, plan.problem, elements);
    } else {
      element = create<memref::LoadOp>(flat[source], ValueRange{there[source]});
    }
    create<memref::StoreOp>(element, staged, ValueRange{add(to, at)});
  });
}

/// Transposes squares of the scratch of rows into columns of the destination.
void OpenEmitter::transpose(const MapPlace &place, Value rows, Value columns) {
  const int64_t unit = transposeUnit(plan.moved), lanes = plan.tileLanes;
  auto square = [&](Value column, Value row) {
    auto gather = [&](Value from, int64_t at) {
      Value base = add(scaled(from ? add(row, from) : row, plan.columns), column);
      Values pieces;
      for (int64_t lane = at; lane < lanes; lane += unit)
        pieces.push_back(load(staged, add(base, lane * plan.columns), unit));
      return joinVectors(b, loc, pieces);
    };
    transposeSquare(place, row, column, gather, rows, columns, Squares::Partial);
  };
  forRange(
      index(0), columns,
      [&](Value column) { forRange(index(0), rows, [&](Value row) { square(column, row); }, lanes); }, unit);
}
