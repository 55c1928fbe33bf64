//===- OpenTile.cpp - Tiles of open sizes ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows of a tile go to scratch, so that strides of the source that fold its rows onto a few sets of a cache cost
// nothing and whole squares can be transposed where the tile ends within one; what those have beyond is stored nowhere.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/OpenEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::maps;

void OpenEmitter::emitTiles() {
  if (plan.network != TileNetwork::Squares)
    return emitInterleaved();
  isFar = less(index(plan.strategy.l2Bytes), bytesMoved());
  staged = scratch(plan.rows * plan.columns, plan.moved);
  if (const int64_t elements = transposeScratch(plan.moved, plan.tileLanes))
    between = scratch(elements, plan.moved);
  if (!plan.isMasked)
    spilled = scratch(plan.tileLanes, plan.moved);
  // Whole lines are written wherever columns begin.
  const int64_t bytes = plan.destination().bytes();
  if (plan.tileLanes * bytes % lineBytes == 0) {
    Value places = create<memref::ExtractAlignedPointerAsIndexOp>(flat.back());
    places = create<arith::OrIOp>(places, scaled(index(plan.destination().offset), bytes));
    for (auto [a, stride] : llvm::enumerate(plan.destination().strides))
      if (a != plan.along)
        places = create<arith::OrIOp>(places, scaled(index(stride), bytes));
    Value rest = create<arith::AndIOp>(places, index(lineBytes - 1));
    streams = both(compare(arith::CmpIPredicate::eq, rest, index(0)), movesMuch(plan.strategy.streamTilesBytes));
  }
  SmallVector<Loop, 6> loops(plan.loops);
  const size_t last = loops.size() - 1;
  auto ofTiles = [&](bool isDirect) {
    forSpace(loops, [&](ArrayRef<Place> places, ArrayRef<Value> at) {
      const size_t ofRows = isDirect ? last : last - 1, ofColumns = isDirect ? last - 1 : last;
      emitTile(places[0], leftOf(loops[ofRows], at[ofRows]), leftOf(loops[ofColumns], at[ofColumns]), isDirect);
    });
  };
  if (!plan.problem.isCopy && !plan.bodyIsLate)
    return ofTiles(/*isDirect=*/false);
  choose(
      foldsRows(), [&] { ofTiles(/*isDirect=*/false); },
      [&] {
        std::swap(loops[last], loops[last - 1]); // all columns of some rows before the next
        ofTiles(/*isDirect=*/true);
      });
}

void OpenEmitter::emitInterleaved() {
  const bool packs = plan.network == TileNetwork::Interleave;
  const unsigned few = packs ? plan.along : plan.across, many = packs ? plan.across : plan.along;
  forSpace(plan.loops, [&](ArrayRef<Place> places, ArrayRef<Value> at) {
    Value left = leftOf(plan.loops.back(), at.back()), whole = wholeSteps(left, plan.tileLanes);
    forRange(index(0), whole, [&](Value first) { interleave(places[0], first); }, plan.tileLanes);
    forRange(whole, left, [&](Value element) {
      const Place there = advance(places[0], many, element);
      forRange(index(0), index(plan.problem.axes[few].extent),
               [&](Value lane) { moveElement(advance(there, few, lane)); });
    });
  });
}

/// As many vectors as there are packed lanes; where they are packed, they lie side by side.
void OpenEmitter::interleave(const Place &place, Value at) {
  const bool packs = plan.network == TileNetwork::Interleave;
  const unsigned few = packs ? plan.along : plan.across, many = packs ? plan.across : plan.along;
  const int64_t count = plan.problem.axes[few].extent.known(), lanes = plan.tileLanes;
  const Place first = advance(place, many, at);
  auto placeOf = [&](bool isPacked, int64_t i) { return advance(first, few, index(isPacked ? i * lanes : i)); };
  auto valueOf = [&](bool isPacked, int64_t i, Value known) {
    return valueAt(placeOf(isPacked, i), isPacked ? few : many, lanes, Value(), known);
  };
  const bool isEarly = !plan.problem.isCopy && !plan.bodyIsLate;
  Values in;
  for (int64_t i = 0; i < count; ++i)
    in.push_back(isEarly ? valueOf(!packs, i, Value())
                         : load(flat[plan.problem.source], placeOf(!packs, i)[plan.problem.source], lanes));
  const Values out = packs ? interleaveVectors(b, loc, in) : takeVectorsApart(b, loc, in);
  for (int64_t i = 0; i < count; ++i)
    store(plan.bodyIsLate ? valueOf(packs, i, out[i]) : out[i], placeOf(packs, i).back());
}

/// Whether rows of the source come to lie in a few sets of the first cache, so that they drive each other out before
/// all of their pieces are read.
OpenEmitter::Value OpenEmitter::foldsRows() {
  const int64_t few = (32 << 10) / plan.tileLanes;
  Value bytes = scaled(index(plan.source().strides[plan.along]), plan.source().bytes());
  Value folds = compare(arith::CmpIPredicate::eq, create<arith::AndIOp>(bytes, index(few - 1)), index(0));
  // Columns that begin within lines, neighbours of which come to lie in neighbouring sets.
  Value ofColumns = scaled(index(plan.destination().strides[plan.across]), plan.destination().bytes());
  Value near = create<arith::AndIOp>(add(ofColumns, lineBytes), index(pageBytes - 1));
  Value within = create<arith::AndIOp>(ofColumns, index(lineBytes - 1));
  Value crowds = both(notMore(near, index(2 * lineBytes)), compare(arith::CmpIPredicate::ne, within, index(0)));
  return create<arith::OrIOp>(folds, crowds);
}

void OpenEmitter::emitTile(const Place &place, Value rows, Value columns, bool isDirect) {
  auto staged = [&] {
    stageRows(place, rows, columns);
    transpose(place, rows, columns);
  };
  if (!isDirect)
    return staged();
  const int64_t unit = transposeUnit(plan.moved);
  if (mayShift()) {
    Value fits = both(notMore(index(plan.tileLanes), rows), notMore(index(unit), columns));
    return choose(fits, [&] { transposeDirectly(place, rows, columns); }, staged);
  }
  auto rest = [&](Value count, int64_t of) { return create<arith::RemUIOp>(count, index(of)).getResult(); };
  Value left = create<arith::OrIOp>(rest(rows, plan.tileLanes), rest(columns, unit));
  choose(compare(arith::CmpIPredicate::eq, left, index(0)), [&] { transposeDirectly(place, rows, columns); }, staged);
}

/// Elements may be computed twice: the last squares of a tile then end with it.
bool OpenEmitter::mayShift() const { return !plan.problem.readsOld && !plan.problem.mayBeInPlace; }

/// Whole squares from the source itself, a cache line of each row at a time.
void OpenEmitter::transposeDirectly(const Place &place, Value rows, Value columns) {
  const unsigned source = plan.problem.source;
  const int64_t unit = transposeUnit(plan.moved), lanes = plan.tileLanes,
                line = std::max(unit, lineBytes / plan.source().bytes());
  auto ofLine = [&](Value begin) {
    Value end = least(add(begin, line), columns);
    forRange(
        index(0), rows,
        [&](Value counted) {
          Value row = mayShift() ? least(counted, difference(rows, index(lanes))) : counted;
          const Place first = advance(place, plan.along, row);
          choose(isFar, [&] {
            for (int64_t lane = 0; lane < lanes; ++lane)
              prefetch(add(advance(first, plan.along, index(lane))[source], add(begin, line)));
          });
          forRange(
              begin, end,
              [&](Value at) {
                Value column = mayShift() ? least(at, difference(columns, index(unit))) : at;
                auto gather = [&](Value from, int64_t at) {
                  const Place there = advance(from ? advance(first, plan.along, from) : first, plan.across, column);
                  Values pieces;
                  for (int64_t lane = at; lane < lanes; lane += unit)
                    pieces.push_back(load(flat[source], advance(there, plan.along, index(lane))[source], unit));
                  return joinVectors(b, loc, pieces);
                };
                transposeSquare(place, row, column, gather, rows, columns);
              },
              unit);
        },
        lanes);
  };
  forRange(index(0), columns, ofLine, line);
}

/// The squares of a register that `gather` has, to columns of the destination.
void OpenEmitter::transposeSquare(const Place &place, Value row, Value column,
                                  function_ref<Value(Value, int64_t)> gather, Value rows, Value columns) {
  auto sink = [&](Value from, ArrayRef<Value> vectors) {
    Value first = from ? add(column, from) : column;
    const Place there = advance(advance(place, plan.along, row), plan.across, first);
    storeColumns(there, vectors, difference(rows, row), difference(columns, first));
  };
  transposeSquares(b, loc, plan.moved, plan.tileLanes, {gather, sink}, between, [&](int64_t i) { return index(i); });
}

void OpenEmitter::stageRows(const Place &place, Value rows, Value columns) {
  auto stage = [&](bool isWhole) {
    forRange(index(0), rows, [&](Value row) {
      stageRow(advance(place, plan.along, row), scaled(row, plan.columns), columns, isWhole);
    });
  };
  choose(
      compare(arith::CmpIPredicate::eq, columns, index(plan.columns)), [&] { stage(/*isWhole=*/true); },
      [&] { stage(/*isWhole=*/false); });
}

/// One row of the source, with the body if it comes first. The next tile's is asked for ahead, be it beyond the end.
void OpenEmitter::stageRow(const Place &place, Value to, Value columns, bool isWhole) {
  const bool hasBody = !plan.problem.isCopy && !plan.bodyIsLate;
  const unsigned source = plan.problem.source;
  const int64_t lanes =
      std::min(plan.columns, hasBody ? plan.lanes : plan.strategy.vectorBytes / plan.source().bytes());
  auto move = [&](Value at, Value mask) {
    const Place there = advance(place, plan.across, at);
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
    const Place there = advance(place, plan.across, at);
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

/// Squares of the scratch of rows, to columns of the destination.
void OpenEmitter::transpose(const Place &place, Value rows, Value columns) {
  const int64_t unit = transposeUnit(plan.moved), lanes = plan.tileLanes;
  auto square = [&](Value column, Value row) {
    auto gather = [&](Value from, int64_t at) {
      Value base = add(scaled(from ? add(row, from) : row, plan.columns), column);
      Values pieces;
      for (int64_t lane = at; lane < lanes; lane += unit)
        pieces.push_back(load(staged, add(base, lane * plan.columns), unit));
      return joinVectors(b, loc, pieces);
    };
    transposeSquare(place, row, column, gather, rows, columns);
  };
  forRange(
      index(0), columns,
      [&](Value column) { forRange(index(0), rows, [&](Value row) { square(column, row); }, lanes); }, unit);
}

/// Columns side by side, as far as rows and columns are left.
void OpenEmitter::storeColumns(const Place &place, ArrayRef<Value> columns, Value rowsLeft, Value columnsLeft) {
  const auto count = static_cast<int64_t>(columns.size());
  auto placeOf = [&](int64_t column) { return advance(place, plan.across, index(column)); };
  auto all = [&](bool streamed) {
    for (int64_t j = 0; j < count; ++j) {
      const Place there = placeOf(j);
      Value value = plan.bodyIsLate ? valueAt(there, plan.along, plan.tileLanes, Value(), columns[j]) : columns[j];
      store(value, there.back(), Value(), streamed);
    }
  };
  Value isWhole = both(notMore(index(count), columnsLeft), notMore(index(plan.tileLanes), rowsLeft));
  auto whole = [&] {
    if (streams)
      choose(streams, [&] { all(true); }, [&] { all(false); });
    else
      all(false);
  };
  choose(isWhole, whole, [&] {
    for (int64_t j = 0; j < count; ++j)
      choose(less(index(j), columnsLeft), [&] { storeColumn(placeOf(j), columns[j], rowsLeft); });
  });
}

/// One column, of which some lanes may be left.
void OpenEmitter::storeColumn(const Place &place, Value column, Value rowsLeft) {
  Value left = least(rowsLeft, index(plan.tileLanes));
  if (plan.isMasked) {
    Value mask = prefixMask(left, plan.tileLanes);
    Value value = plan.bodyIsLate ? valueAt(place, plan.along, plan.tileLanes, mask, column) : column;
    return store(value, place.back(), mask);
  }
  create<vector::StoreOp>(column, spilled, ValueRange{index(0)});
  forRange(index(0), left, [&](Value lane) {
    Value element = create<memref::LoadOp>(spilled, ValueRange{lane});
    const Place there = advance(place, plan.along, lane);
    if (plan.bodyIsLate)
      moveElement(there, element);
    else
      create<memref::StoreOp>(element, flat.back(), ValueRange{there.back()});
  });
}
