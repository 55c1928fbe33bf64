//===- Epilogue.h - Elementwise ops at points of a tile ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_EPILOGUE_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_EPILOGUE_H

#include "Schedule/Contraction/Cpu/RowBlocks.h"
#include "Schedule/Contraction/Cpu/Tile.h"
#include "Schedule/Contraction/PointValues.h"

namespace quern::schedule::contractions {

/// A row of the tile: a value plus a constant.
struct Row {
  Value value;
  int64_t offset = 0;
};

/// Vectors of columns that are transposed into scratch, for the rows of a chunk.
class TransposedInputs {
public:
  TransposedInputs(ContractionBuilder &ir, const ContractionPlan &plan, Value chunkRow)
      : ir(ir), plan(plan), chunkRow(chunkRow) {}
  /// Transposes the columns of `lanes`.
  void copy(const ColumnLanes &lanes, IndexRange rows);
  /// Loads the columns that were copied last; returns null for an input that is not transposed.
  Value load(const TileAccess &access, const Row &row) const;

private:
  using Input = ScratchPlan::TransposedInput;
  void copy(const Input &input, const ColumnLanes &lanes, Value row);
  Value buffer(const Input &input) const;
  Value addressOf(const Input &input, Value row, int64_t rowOffset) const;

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  Value chunkRow; ///< row at which scratch begins
};

/// A vector of columns of one row, or for 0 lanes a single column.
class TilePoint : public EpiloguePoint {
public:
  TilePoint(ContractionBuilder &ir, int64_t width, Row row, const ColumnLanes &lanes, Size columns,
            const TransposedInputs *transposed = nullptr)
      : EpiloguePoint(ir, width), row(row), at(lanes), columns(columns), transposed(transposed) {}
  Value load(const TileAccess &access) override;
  void store(Value v, const TileAccess &access) override;
  Value addressOf(const TileAccess &access);

private:
  const Row row;
  const ColumnLanes &at;
  const Size columns; ///< columns of the problem
  const TransposedInputs *transposed;
};

/// Runs the epilogue of a tile on the sums in scratch, for rows of a chunk.
class ScratchEpilogue {
public:
  ScratchEpilogue(ContractionBuilder &ir, const ContractionPlan &plan, const Tile &tile, Value scratch, Value chunkRow,
                  IndexRange rows)
      : ir(ir), plan(plan), chain(plan.chain), tile(tile), scratch(scratch), chunkRow(chunkRow), rows(rows),
        transposed(ir, plan, chunkRow) {}
  void emit();

private:
  void emitVector(Value vector, const ColumnLanes &lanes);
  KnownValues hoistInputs(const ColumnLanes &lanes);
  TilePoint pointAt(Value row, const ColumnLanes &lanes, const TransposedInputs *copies = nullptr) {
    return {ir, plan.tile.lanes, {row}, lanes, plan.tile.columns, copies};
  }

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  const Chain &chain;
  const Tile &tile;
  Value scratch;
  Value chunkRow; ///< row at which scratch begins
  const IndexRange rows;
  TransposedInputs transposed;
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_EPILOGUE_H
