//===- Epilogue.cpp - Elementwise ops at points of a tile ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A point is a vector of columns in one row. Over scratch, columns are the outer loop and rows the inner one, so values
// that are the same in all rows are loaded and computed once.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Epilogue.h"

#include "Schedule/Build/Transpose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

Value TransposedInputs::buffer(const Input &input) const {
  const Type element = input.input.element();
  const int64_t elements = (plan.scratch.rows + 2 * transposeUnit(element)) * plan.tile.lanes;
  return ir.atEntry([&] { return ir.scratchBuffer(input.bytes, elements, element); });
}

/// Returns the address of a row of the copy, `rowOffset` rows after `row`.
Value TransposedInputs::addressOf(const Input &input, Value row, int64_t rowOffset) const {
  const int64_t unit = transposeUnit(input.input.element()), lanes = plan.tile.lanes;
  return ir.linear((unit + rowOffset) * lanes, {{row, lanes}, {chunkRow, -lanes}});
}

Value TransposedInputs::load(const TileAccess &access, const Row &row) const {
  for (const Input &own : plan.scratch.transposedInputs)
    if (own.input == access) {
      Value copy = buffer(own);
      return ir.load(copy, addressOf(own, row.value, row.offset), plan.tile.lanes);
    }
  return {};
}

/// The last square overlaps the one before it.
void TransposedInputs::copy(const ColumnLanes &lanes, IndexRange rows) {
  for (const Input &input : plan.scratch.transposedInputs) {
    const int64_t unit = transposeUnit(input.input.element());
    ir.forRange(
        rows.begin, rows.end, [&](Value at) { copy(input, lanes, ir.min(at, plan.chain.rows.known() - unit)); }, unit);
  }
}

/// Transposes the rows of a square.
void TransposedInputs::copy(const Input &input, const ColumnLanes &lanes, Value row) {
  const TileAccess &in = input.input;
  Value copied = buffer(input);
  auto pieceAt = [&](int64_t lane) {
    return ir.linear(in.offset, {{row, 1},
                                 {lanes.first, in.column},
                                 {ir.index(lanes.offset), in.column},
                                 {clampToColumns(ir, lane, lanes, plan.tile.columns), in.column}});
  };
  ir.transpose(ir.buffer(in.base), plan.tile.lanes, pieceAt,
               [&](int64_t i, Value v) { ir.store(v, copied, addressOf(input, row, i)); });
}

Value TilePoint::addressOf(const TileAccess &access) {
  Value column = ir.index(at.offset);
  return ir.linear(access.offset, {{row.value, access.row},
                                   {ir.index(row.offset), access.row},
                                   {at.first, access.column},
                                   {column, access.column}});
}

Value TilePoint::load(const TileAccess &access) {
  Value memref = ir.buffer(access.base), address = addressOf(access);
  if (!access.column || !lanes) {
    Value element = ir.loadScalar(memref, address);
    return lanes ? ir.create<vector::BroadcastOp>(typeOf(access.element()), element).getResult() : element;
  }
  if (Value copied = transposed ? transposed->load(access, row) : Value())
    return copied;
  if (access.column != 1)
    return loadStrided(ir, memref, address, at, lanes, access.column, columns.known());
  return ir.loadLanes(memref, address, lanes, at.mask, at.count);
}

void TilePoint::store(Value v, const TileAccess &access) {
  Value memref = ir.buffer(access.base), address = addressOf(access);
  if (lanes)
    ir.storeLanes(v, memref, address, at.mask, at.count);
  else
    ir.storeScalar(v, memref, address);
}

void ScratchEpilogue::emit() {
  const int64_t width = plan.tile.lanes, vectors = plan.tile.columnVectors;
  if (tile.isMasked) { // masks are computed from the column, so one loop serves all vectors that have columns
    auto emitMasked = [&](Value vector) {
      Value first = ir.linear(0, {{tile.first, 1}, {vector, width}});
      emitVector(vector, {first, 0, columnMask(ir, plan.tile, first, 1), width});
    };
    if (!tile.mayMiss(vectors - 1))
      return ir.forCount(0, vectors, emitMasked);
    Value left = ir.floorDiv(ir.linear(plan.tile.columns + width - 1, {{tile.first, -1}}), width);
    return ir.forRange(ir.index(0), ir.min(left, vectors), emitMasked);
  }
  int64_t whole = tile.count / width;
  ir.forCount(0, whole, [&](Value vector) {
    emitVector(vector, {ir.linear(0, {{tile.first, 1}, {vector, width}}), 0, {}, width});
  });
  if (tile.count % width)
    emitVector(ir.index(whole), tile.vectors[whole]);
}

/// Loads and computes the values that are the same in all rows.
KnownValues ScratchEpilogue::hoistInputs(const ColumnLanes &lanes) {
  KnownValues hoisted;
  TilePoint point = pointAt(ir.index(0), lanes);
  for (const PointOp &op : chain.epilogue) {
    for (auto [in, element] : llvm::zip_equal(op.ins, linalg::LinalgOp(op.op).getRegionInputArgs()))
      if (in.base && in.row == 0 && in.isArgument() && !element.use_empty() && !hoisted.find(in) &&
          chain.rows.mayExceed(1))
        hoisted.set(in, point.load(in));
    if (op.isPerColumn)
      for (auto [out, value] : llvm::zip_equal(op.outs, point.evaluate(op, hoisted)))
        hoisted.set(out, value);
  }
  return hoisted;
}

void ScratchEpilogue::emitVector(Value vector, const ColumnLanes &lanes) {
  const KernelBuilder::AtOperation scope(ir, chain.epilogue.empty() ? ir.loc : locationOf(chain.epilogue.back()));
  const KnownValues hoisted = hoistInputs(lanes);
  Values starts(chain.accumulators.size()); // matrices sum from zero; the starts here are the same in all rows
  for (auto [start, accumulator] : llvm::zip_equal(starts, chain.accumulators))
    if (plan.matrices && accumulator.startsAlike())
      start = pointAt(ir.index(0), lanes).startOf(accumulator);
  transposed.copy(lanes, rows);
  const int64_t width = plan.tile.lanes, accumulators = static_cast<int64_t>(chain.accumulators.size());
  ir.forRange(rows.begin, rows.end, [&](Value row) {
    TilePoint point = pointAt(row, lanes, &transposed);
    Value at = ir.linear(0, {{tile.sumsAt(row, chunkRow), 1}, {vector, accumulators * width}});
    point.finish(
        chain,
        [&](unsigned accumulator) -> Value {
          Value own = ir.load(scratch, ir.linear(accumulator * width, {{at, 1}}), width);
          if (!plan.matrices || chain.accumulators[accumulator].startsAtZero())
            return own;
          Value start = starts[accumulator] ? starts[accumulator] : point.startOf(chain.accumulators[accumulator]);
          return ir.plus(start, own);
        },
        hoisted);
  });
}
