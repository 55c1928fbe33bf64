//===- Epilogue.cpp - Elementwise ops at points of a tile ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A point is a vector of columns in one row. Over scratch, columns are the outer loop and rows the inner one, so values
// that are the same in all rows are loaded and computed once.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

void ContractionEmitter::emitScratchRows(Value begin, Value end) {
  if (tile.isMasked) { // masks are computed from the column, so one loop serves all vectors that have columns
    auto emitVector = [&](Value vector) {
      Value first = linear(0, {{tile.first, 1}, {vector, plan.lanes}});
      emitScratchVector(vector, {first, 0, columnMask(first, 1), plan.lanes}, begin, end);
    };
    if (!mayMiss(plan.columnVectors - 1))
      return forCount(0, plan.columnVectors, emitVector);
    Value left = create<arith::DivUIOp>(linear(plan.columns() + plan.lanes - 1, {{tile.first, -1}}), index(plan.lanes));
    return forRange(index(0), min(left, index(plan.columnVectors)), emitVector);
  }
  int64_t whole = tile.count / plan.lanes;
  forCount(0, whole, [&](Value vector) {
    emitScratchVector(vector, {linear(0, {{tile.first, 1}, {vector, plan.lanes}}), 0, {}, plan.lanes}, begin, end);
  });
  if (tile.count % plan.lanes)
    emitScratchVector(index(whole), tile.vectors[whole], begin, end);
}

/// Emits one vector of columns for all rows of a chunk.
void ContractionEmitter::emitScratchVector(Value vector, const ColumnLanes &lanes, Value begin, Value end) {
  const AtOperation scope(*this, chain.epilogue.empty() ? loc : locationOf(chain.epilogue.back()));
  KnownValues hoisted;
  for (const PointOp &point : chain.epilogue) {
    for (auto [in, element] : llvm::zip_equal(point.ins, linalg::LinalgOp(point.op).getRegionInputArgs()))
      if (in.base && in.row == 0 && in.isArgument() && !element.use_empty() && !hoisted.find(in) &&
          chain.rows.mayExceed(1))
        hoisted.set(in, load(in, {index(0)}, lanes));
    if (point.isPerColumn)
      for (auto [out, value] : llvm::zip_equal(point.outs, evaluate(point, {index(0)}, lanes, hoisted)))
        hoisted.set(out, value);
  }
  Values starts(chain.accumulators.size()); // matrices sum from zero; the starts here are the same in all rows
  for (auto [start, accumulator] : llvm::zip_equal(starts, chain.accumulators))
    if (plan.matrices && accumulator.startsAlike())
      start = startOf(accumulator, {index(0)}, lanes);
  for (const ContractionPlan::TransposedInput &transposed : plan.transposedInputs)
    transpose(transposed, lanes, begin, end);
  hasTransposed = true;
  int64_t accumulators = static_cast<int64_t>(chain.accumulators.size());
  forRange(begin, end, [&](Value row) {
    Value at = linear(0, {{scratchAt(row), 1}, {vector, accumulators * plan.lanes}});
    auto sum = [&](unsigned accumulator) -> Value {
      Value own = create<vector::LoadOp>(vec(chain.sumType()), scratch,
                                         ValueRange{linear(accumulator * plan.lanes, {{at, 1}})});
      if (!plan.matrices || chain.accumulators[accumulator].startsAtZero())
        return own;
      Value start = starts[accumulator] ? starts[accumulator] : startOf(chain.accumulators[accumulator], {row}, lanes);
      bool isFloat = isa<FloatType>(chain.sumType());
      return isFloat ? create<arith::AddFOp>(start, own).getResult() : create<arith::AddIOp>(start, own).getResult();
    };
    emitPoint({row}, lanes, sum, hoisted);
  });
  hasTransposed = false;
}

Value ContractionEmitter::copyOf(const ContractionPlan::TransposedInput &transposed) {
  const Type element = transposed.input.element();
  return copiesAt(transposed.bytes, (plan.scratchRows + 2 * transposeUnit(element)) * plan.lanes, element);
}

/// Returns the address of a row of the copy, `rowOffset` rows after `row`.
Value ContractionEmitter::transposedAt(const ContractionPlan::TransposedInput &transposed, Value row,
                                       int64_t rowOffset) {
  const int64_t unit = transposeUnit(transposed.input.element());
  return linear((unit + rowOffset) * plan.lanes, {{row, plan.lanes}, {chunkRow, -plan.lanes}});
}

/// Transposes a vector of columns into the copy, by the rows of a square; the last square overlaps the one before it.
void ContractionEmitter::transpose(const ContractionPlan::TransposedInput &transposed, const ColumnLanes &lanes,
                                   Value begin, Value end) {
  const TileAccess &in = transposed.input;
  const int64_t unit = transposeUnit(in.element());
  Value memref = kernel.arguments.lookup(in.base), copy = copyOf(transposed);
  forRange(
      begin, end,
      [&](Value at) {
        Value row = min(at, index(chain.rows.known() - unit));
        auto gather = [&](Value, int64_t column) {
          Values pieces;
          for (; column < plan.lanes; column += unit) {
            Value from = linear(in.offset, {{row, 1},
                                            {lanes.first, in.column},
                                            {index(lanes.offset), in.column},
                                            {clampToColumns(column, lanes, plan.columns()), in.column}});
            pieces.push_back(loadVector(memref, from, unit, Value(), unit));
          }
          return joinVectors(b, loc, std::move(pieces));
        };
        auto sink = [&](Value, ArrayRef<Value> columns) {
          for (auto [i, own] : llvm::enumerate(columns))
            create<vector::StoreOp>(own, copy, ValueRange{transposedAt(transposed, row, static_cast<int64_t>(i))});
        };
        transposeSquares(b, loc, in.element(), plan.lanes, {gather, sink}, Value(),
                         [&](int64_t i) { return index(i); });
      },
      unit);
}

void ContractionEmitter::emitPoint(const Row &row, const ColumnLanes &lanes, function_ref<Value(unsigned)> sum,
                                   KnownValues known) {
  if (!lanes.count)
    return;
  for (auto [n, accumulator] : llvm::enumerate(chain.accumulators)) {
    Value own = sum(n);
    known.set(accumulator.at, own);
    if (accumulator.isStored)
      store(own, accumulator.at, row, lanes);
  }
  for (const PointOp &point : chain.epilogue) {
    const AtOperation scope(*this, locationOf(point));
    if (point.isPerColumn && known.find(point.outs[0]))
      continue;
    for (auto [out, value] : llvm::zip_equal(point.outs, evaluate(point, row, lanes, known))) {
      known.set(out, value);
      if (out.isArgument())
        store(value, out, row, lanes);
    }
  }
}

ContractionEmitter::Values ContractionEmitter::evaluate(const PointOp &point, const Row &row, const ColumnLanes &lanes,
                                                        const KnownValues &known) {
  return contractions::evaluate(
      b, point, known,
      {.captured = [&](Value scalar) { return captured(scalar, plan.lanes); },
       .load = [&](const TileAccess &access) { return load(access, row, lanes); },
       .adapt = [&](Operation *clone) { clone->getResult(0).setType(vec(clone->getResult(0).getType())); }});
}

Value ContractionEmitter::address(const TileAccess &access, const Row &row, const ColumnLanes &lanes) {
  Value column = index(lanes.offset);
  return linear(access.offset, {{row.value, access.row},
                                {index(row.offset), access.row},
                                {lanes.first, access.column},
                                {column, access.column}});
}

Value ContractionEmitter::load(const TileAccess &access, const Row &row, const ColumnLanes &lanes) {
  Value memref = kernel.arguments.lookup(access.base), at = address(access, row, lanes);
  if (!access.column)
    return create<vector::BroadcastOp>(vec(access.element()), loadScalar(memref, at));
  auto *transposed = llvm::find_if(plan.transposedInputs,
                                   [&](const ContractionPlan::TransposedInput &own) { return own.input == access; });
  if (hasTransposed && transposed != plan.transposedInputs.end())
    return create<vector::LoadOp>(vec(access.element()), copyOf(*transposed),
                                  ValueRange{transposedAt(*transposed, row.value, row.offset)});
  if (access.column != 1)
    return loadStrided(memref, at, lanes, access.column, plan.columns());
  return loadVector(memref, at, plan.lanes, lanes.mask, lanes.count);
}

Value ContractionEmitter::loadScalar(Value memref, Value at) {
  SmallVector<Value, 1> indices;
  if (cast<MemRefType>(memref.getType()).getRank())
    indices.push_back(at);
  return create<memref::LoadOp>(memref, indices);
}

Value ContractionEmitter::loadVector(Value memref, Value at, int64_t lanes, Value mask, int64_t count) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  if (mask)
    return create<vector::MaskedLoadOp>(type, memref, ValueRange{at}, mask, zeros(type));
  if (count == lanes)
    return create<vector::LoadOp>(type, memref, ValueRange{at});
  Values elements;
  for (int64_t lane = 0; lane < count; ++lane)
    elements.push_back(loadScalar(memref, linear(lane, {{at, 1}})));
  elements.resize(lanes, constant(cast<TypedAttr>(b.getZeroAttr(element))));
  return create<vector::FromElementsOp>(type, elements);
}

void ContractionEmitter::store(Value v, const TileAccess &access, const Row &row, const ColumnLanes &lanes) {
  Value memref = kernel.arguments.lookup(access.base), at = address(access, row, lanes);
  if (lanes.mask) {
    create<vector::MaskedStoreOp>(memref, ValueRange{at}, lanes.mask, v);
    return;
  }
  if (lanes.count == plan.lanes) {
    create<vector::StoreOp>(v, memref, ValueRange{at});
    return;
  }
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    create<memref::StoreOp>(create<vector::ExtractOp>(v, lane), memref, ValueRange{linear(lane, {{at, 1}})});
}
