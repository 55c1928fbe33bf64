//===- Tile.h - The columns of a tile, and its vectors of rhs -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_TILE_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_TILE_H

#include "Schedule/Contraction/Builder.h"
#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::schedule::contractions {

using mlir::Value;
using Values = llvm::SmallVector<Value>;

/// The columns of one vector: all of its lanes, those of a mask, or the first `count`. A vector whose mask is empty is
/// placed on columns that exist, because an access without an active lane takes hundreds of cycles if it touches an
/// unmapped page.
struct ColumnLanes {
  Value first;    ///< a column, usually the first of the tile
  int64_t offset; ///< column of lane 0 relative to `first`: a constant, so that adjacent vectors share an address
  Value mask;     ///< null: no mask
  int64_t count;
};

/// Returns the mask of a vector's existing columns, each repeated `perColumn` times.
Value columnMask(ContractionBuilder &ir, const ColumnPlan &plan, Value first, int64_t perColumn);

/// Reads strided columns one by one. ColumnLanes without a column read the last one; `columns` is the number of
/// existing columns, if masks exclude some.
Value loadStrided(ContractionBuilder &ir, Value buffer, Value at, const ColumnLanes &lanes, int64_t width, Size stride,
                  std::optional<int64_t> columns);
/// Returns the lane, or the last one that has a column.
Value clampToColumns(ContractionBuilder &ir, int64_t lane, const ColumnLanes &lanes, std::optional<int64_t> columns);

/// The tile of an iteration.
class Tile {
public:
  /// Computes the addresses of tile `number`. `isLast`: the code is only for the last tile.
  Tile(ContractionBuilder &ir, const Chain &chain, const ColumnPlan &plan, Value number, bool isLast);

  /// Returns true if a vector may have no columns in the last masked tile.
  bool mayMiss(int64_t vector) const { return isMasked && plan.firstOfLast() + vector * plan.lanes >= plan.columns; }
  /// Returns the address in scratch of a row's sums. `firstRow`: row at which scratch begins.
  Value sumsAt(Value row, Value firstRow) const {
    return ir.linear(0, {{scratch, 1}, {row, plan.sumsOfRow()}, {firstRow, -plan.sumsOfRow()}});
  }
  /// Calls `body` for each vector of the tile that has columns.
  void forVectors(llvm::function_ref<void(int64_t vector)> body) const {
    for (int64_t v = 0; v < plan.columnVectors && vectors[v].count; ++v)
      body(v);
  }
  /// Returns the address of a vector of columns of one of a product's sums, plus an offset along K.
  Value rhsAt(unsigned product, size_t sum, int64_t vector, int64_t offset,
              llvm::ArrayRef<ContractionBuilder::Term> terms) const;
  /// Returns the same address at the indices `k` of the loops over K.
  Value rhsAt(unsigned product, llvm::ArrayRef<Value> k, size_t sum, int64_t vector, int64_t offset = 0) const;
  /// Loads a vector of columns of one of a product's sums.
  Value loadRhs(unsigned product, Value buffer, llvm::ArrayRef<Value> k, size_t sum, int64_t vector,
                int64_t offset = 0) const;

  Value first;                               ///< first column
  int64_t count;                             ///< existing columns; the tile's width if it is masked
  bool isMasked;                             ///< true if vectors have masks
  llvm::SmallVector<ColumnLanes, 4> vectors; ///< lanes of each vector of columns
  Value scratch;                             ///< first element of its sums
  Values shift;                              ///< by sum of a row: the correction of shifted dots, if it is summed once

private:
  /// Address of a vector of rhs: a value plus a constant, so that adjacent vectors share the value.
  struct RhsAddress {
    Value base;
    int64_t offset;
    ColumnLanes lanes;
  };
  ColumnLanes lanesOf(int64_t vector) const;
  void placeVectors(Value number);
  Value addressOf(unsigned product, Value number) const;

  ContractionBuilder &ir;
  const Chain &chain;
  const ColumnPlan &plan;
  llvm::SmallVector<llvm::SmallVector<RhsAddress>, 4> rhs; ///< addresses by product and vector of columns
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_TILE_H
