//===- Variants.h - Decisions of a map at execution -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If sizes are open, decisions that depend on numbers (whether a line is shorter than a vector, whether results use
// non-temporal stores) are made once per call, and each outcome has separate code.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_VARIANTS_H
#define QUERN_SCHEDULE_MAP_CPU_VARIANTS_H

#include "Schedule/Map/Cpu/Emitter.h"

namespace quern::schedule::maps {

/// Emits kernels of lines and tiles with open sizes. The axis that each operand is contiguous along is known, but not
/// its length. The loops of the space run from the first to the last index of a call, nested in each other, so only the
/// two ends of a call are divided into indices, not each iteration.
class VariantEmitter : MapEmitter {
public:
  explicit VariantEmitter(MapPlan &plan);
  /// Inserts the kernel after the problem.
  mlir::func::FuncOp emit();

private:
  // Loops (Nest.cpp).
  Index tripOf(const MapLoop &loop);
  using Places = llvm::ArrayRef<MapPlace>;
  using Body = llvm::function_ref<void(Places, llvm::ArrayRef<Value>)>;
  struct Nest {
    llvm::ArrayRef<MapLoop> loops;
    Values trips, first, last, at;
    llvm::SmallVector<Values> strides; ///< strides by loop and operand, for loops whose order is chosen at run time
    Body body;
    int64_t jamFactor = 1;
    /// Replaces `body`: f(place, begin, end) emits a range of indices of the innermost loop.
    llvm::function_ref<void(const MapPlace &, Value, Value)> ofRange;
  };
  /// Emits the loops of the space, in the given order or by descending source strides. Axes without a loop have index
  /// 0. The body is f(places, index of each loop), with one place, or `jamFactor` places of consecutive indices of the
  /// innermost loop.
  enum class Order { Given, Source };
  void forSpace(llvm::ArrayRef<MapLoop> loops, Body f, int64_t jamFactor = 1, Order order = Order::Given);
  Nest nestOf(llvm::ArrayRef<MapLoop> loops);
  /// Reads the strides of the `count` outermost loops, so that their order can be chosen at run time.
  void readStrides(Nest &nest, size_t count);
  void swapWithNext(Nest &nest, size_t loop, Value swaps);
  void orderBySource(Nest &nest);
  void emitSpace(Nest &nest);
  void emitNest(Nest &nest, const MapPlace &place, Value onFirst, Value onLast);
  void emitJammed(Nest &nest, const MapPlace &place, Value begin, Value end);
  MapPlace advanceAlong(MapPlace place, llvm::ArrayRef<Value> strides, Value by);
  /// Returns the number of elements from index `at` of a loop to the end of the axis, at most one step.
  Index leftOf(const MapLoop &loop, Value at);
  Value computesAll(llvm::ArrayRef<Value> trips);

  // Decisions (Variants.cpp).
  /// Returns whether the map moves enough bytes for non-temporal stores in this call: `least` for a call of all of it,
  /// possibly more for a partial call.
  Value movesMuch(int64_t least);
  Value startsOn(int64_t multiple);
  Index bytesMoved();
  Size extentOf(unsigned axis) const { return problem.axes[axis].extent; }

  // Lines (LineVariants.cpp).
  void emitLines();
  void emitWholeLines();
  void emitShort(Index length, int64_t lanes, llvm::function_ref<void()> longer);
  void emitPieces(int64_t lanes, llvm::ArrayRef<Index> starts, Value lastMask);
  void emitMaskedLines(int64_t lanes, int64_t vectors);
  void emitOverlapping(int64_t lanes);
  void emitElements();

  // Tiles (TileVariants.cpp).
  void emitTiles();
  void emitInterleaved();
  void emitTile(const MapPlace &place, Index rows, Index columns, bool isDirect);
  Value foldsRows();
  void stageRows(const MapPlace &place, Index rows, Index columns);
  void stageRow(const MapPlace &place, Value to, Index columns);
  void transpose(const MapPlace &place, Index rows, Index columns);

  // Small tiles (TileTables.cpp).
  struct Folds {
    Value rows, columns;           ///< extents of a tile without another axis
    Value foldsRows, foldsColumns; ///< true if loops are folded into the rows, or into the columns; not both
    Values isFolded;               ///< for each loop around the tile: true if it is folded into the tile
    Value isSmall;                 ///< true if small tiles are moved with tables
  };
  bool mayFold() const;
  Folds readFolds();
  void emitFolded(const Folds &folds);
  void fillTable(Value table, Value outer, Value outerStride, Value inner, Size innerStride);
  void transposeByTables(const MapPlace &place, Value rows, Value columns, bool foldsRows);
  void moveByTables(const MapPlace &place, Value rows, Value columns);

  // Squares of tiles (Squares.cpp).
  /// `Partial`: lanes or columns may be missing; `Whole`: none are missing; `Streamed`: like `Whole`, but written with
  /// non-temporal stores.
  enum class Squares { Partial, Whole, Streamed };
  bool mayShift() const;
  void fillRowSteps();
  Value gatherFromSource(Value start, Value from, int64_t at);
  void transposeDirectly(const MapPlace &place, Index rows, Index columns, Squares how);
  void transposeSquare(const MapPlace &place, Value row, Value column, llvm::function_ref<Value(Value, int64_t)> gather,
                       Index rows, Index columns, Squares how);
  Value columnAt(const MapPlace &place, Value column, Value mask = {});
  void storeWholeColumns(const MapPlace &place, llvm::ArrayRef<Value> columns, bool streamed);
  void storeColumns(const MapPlace &place, llvm::ArrayRef<Value> columns, Index rowsLeft, Index columnsLeft);
  void storeColumn(const MapPlace &place, Value column, Index rowsLeft);

  const unsigned along, across; ///< axes along which the destination, and a tile's source, are contiguous
  Value isFar;                  ///< whether the map moves more bytes than the second-level cache holds
  Value streams;                ///< whether this call uses non-temporal stores; null: no call does
  Value staged, spilled;        ///< scratch for a tile's rows, for a column
  Value rowSteps;               ///< offsets of a square's rows from its first row in the source
  Value rowsAt, columnsAt;      ///< addresses of a small tile's rows in the source, columns in the destination
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_VARIANTS_H
