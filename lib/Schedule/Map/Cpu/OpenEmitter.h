//===- OpenEmitter.h - Emission of maps with open sizes -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loops of the space run from the first to the last index of a call, nested in each other, so only the two ends of
// a call are divided into indices, not each iteration.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H
#define QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H

#include "Schedule/Map/Body.h"
#include "Schedule/Map/Cpu/Open.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace quern::schedule::maps {

class OpenEmitter : public KernelBuilder {
public:
  explicit OpenEmitter(const OpenMapPlan &plan);
  mlir::func::FuncOp emit();

private:
  /// By operand: the address of the next element, in elements.
  using MapPlace = Values;
  using MapLoop = OpenMapPlan::MapLoop;

  // Loops and memory (OpenEmitter.cpp).
  Value tripOf(const MapLoop &loop);
  using Body = llvm::function_ref<void(llvm::ArrayRef<MapPlace>, llvm::ArrayRef<Value>)>;
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
  MapPlace advance(MapPlace place, unsigned axis, Value by);
  MapPlace advance(MapPlace place, llvm::ArrayRef<Value> strides, Value by);
  Value less(Value a, Value b) { return compare(mlir::arith::CmpIPredicate::slt, a, b); }
  Value notMore(Value a, Value b) { return compare(mlir::arith::CmpIPredicate::sle, a, b); }
  Value compare(mlir::arith::CmpIPredicate how, Value a, Value b) { return create<mlir::arith::CmpIOp>(how, a, b); }
  Value least(Value a, Value b) { return create<mlir::arith::MinSIOp>(a, b); }
  Value difference(Value a, Value b) {
    return create<mlir::arith::SubIOp>(a, b, mlir::arith::IntegerOverflowFlags::nsw);
  }
  /// Returns the largest multiple of `step` that is at most `v`, which must not be negative.
  Value wholeSteps(Value v, int64_t step);
  /// Returns the number of elements from index `at` of a loop to the end of the axis, at most one step.
  Value leftOf(const MapLoop &loop, Value at);
  void choose(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr) {
    quern::choose(b, loc, condition, then, otherwise);
  }
  /// Masked lanes are zero and are not read.
  Value load(Value memref, Value at, int64_t lanes, Value mask = {});
  void store(Value vector, Value at, Value mask = {}, bool streamed = false);
  /// Returns the operands' elements in lanes along `axis`, from `place` on. `known`, if given, is the source's vector.
  Values elementsAt(const MapPlace &place, unsigned axis, int64_t lanes, Value mask, Value known = {});
  Value valueAt(const MapPlace &place, unsigned axis, int64_t lanes, Value mask = {}, Value known = {}) {
    return emitBody(*this, plan.problem, elementsAt(place, axis, lanes, mask, known), lanes);
  }
  /// Moves one element. `known`, if given, is the source's element.
  void moveElement(const MapPlace &place, Value known = {});
  /// Returns whether the map moves enough bytes for non-temporal stores in this call: `least` for a call of all of it,
  /// possibly more for a partial call.
  Value movesMuch(int64_t least);
  Value computesAll(llvm::ArrayRef<Value> trips);
  Value startsOn(int64_t multiple);
  void prefetch(Value at);
  Value bytesMoved();
  Value scratch(int64_t elements, Type element);

  // Lines (OpenLine.cpp).
  void emitLines();
  void emitWholeLines();
  void emitShort(Value length, int64_t lanes, llvm::function_ref<void()> longer);
  void emitPieces(int64_t lanes, llvm::ArrayRef<Value> starts, Value lastMask);
  void emitMaskedLines(int64_t lanes, int64_t vectors);
  void emitOverlapping(int64_t lanes);
  void emitElements();
  void emitLine(const MapPlace &place, Value length);
  void emitSteps(const MapPlace &place, Value length, bool streamed);
  void emitMaskedEnd(const MapPlace &place, Value length, Value from);
  void emitStreamed(const MapPlace &place, Value length);
  void emitUnmasked(const MapPlace &place, Value length);
  void emitFew(const MapPlace &place, Value length, int64_t lanes);
  Value boundaryFrom(const MapPlace &place);

  // Packed lanes (OpenInterleave.cpp).
  void emitInterleaved();
  void interleave(const MapPlace &place, Value at);

  // Tiles (OpenTile.cpp).
  void emitTiles();
  void emitTile(const MapPlace &place, Value rows, Value columns, bool isDirect);
  Value foldsRows();
  void stageRows(const MapPlace &place, Value rows, Value columns);
  void stageRow(const MapPlace &place, Value to, Value columns, bool isWhole);
  void transpose(const MapPlace &place, Value rows, Value columns);

  // Small tiles (OpenFolds.cpp).
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

  // Squares of tiles (OpenSquares.cpp).
  /// Partial: lanes or columns may be missing; Whole: none is; Streamed: whole, and written with non-temporal stores.
  enum class Squares { Partial, Whole, Streamed };
  bool mayShift() const;
  void fillRowSteps();
  Value gatherRows(Value start, Value from, int64_t at);
  void transposeDirectly(const MapPlace &place, Value rows, Value columns, Squares how);
  void transposeSquare(const MapPlace &place, Value row, Value column, llvm::function_ref<Value(Value, int64_t)> gather,
                       Value rows, Value columns, Squares how);
  void storeWholeColumns(const MapPlace &place, llvm::ArrayRef<Value> columns, bool streamed);
  void storeColumns(const MapPlace &place, llvm::ArrayRef<Value> columns, Value rowsLeft, Value columnsLeft);
  void storeColumn(const MapPlace &place, Value column, Value rowsLeft);

  const OpenMapPlan &plan;
  Values flat;                    ///< by operand: the kernel's memref
  Value isFar;                    ///< true if tiles move more bytes than the second-level cache holds
  Value streams;                  ///< true if this call uses non-temporal stores
  Value staged, between, spilled; ///< scratch for a tile's rows, for the transposition, for a column
  Value rowSteps;                 ///< offsets of a square's rows from its first row in the source
  Value rowsAt, columnsAt;        ///< addresses of a small tile's rows in the source, columns in the destination
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H
