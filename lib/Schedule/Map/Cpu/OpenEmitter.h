//===- OpenEmitter.h - Writing a map of open sizes ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loops of the space count from where a call begins to where it ends, each within the one around it, so that no
// iteration is divided into indices.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H
#define QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H

#include "Schedule/Map/Body.h"
#include "Schedule/Map/Cpu/Open.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace quern::maps {

class OpenEmitter : public KernelBuilder {
public:
  explicit OpenEmitter(const OpenMapPlan &plan);
  mlir::func::FuncOp emit();

private:
  /// By operand, the address of what comes next, in elements.
  using Place = Values;
  using Loop = OpenMapPlan::Loop;

  // Loops and memory (OpenEmitter.cpp).
  Value tripOf(const Loop &loop);
  using Body = llvm::function_ref<void(llvm::ArrayRef<Place>, llvm::ArrayRef<Value>)>;
  struct Nest {
    llvm::ArrayRef<Loop> loops;
    Values trips, first, last, at;
    llvm::SmallVector<Values> strides; ///< by loop and operand, of those whose order is chosen at run time
    Body body;
    int64_t jam = 1;
    /// Instead of a body, f(place, begin, end) for indices of the innermost loop.
    llvm::function_ref<void(const Place &, Value, Value)> ofRange;
  };
  /// The loops of the space, in this order or that of the source; what is left out has one index. f(places, index of
  /// each loop): one place, or `jam` of them side by side along the innermost loop.
  enum class Order { Given, Source };
  void forSpace(llvm::ArrayRef<Loop> loops, Body f, int64_t jam = 1, Order order = Order::Given);
  Nest nestOf(llvm::ArrayRef<Loop> loops);
  /// The order of so many loops, the outermost ones, is chosen at run time.
  void readStrides(Nest &nest, size_t count);
  void swapWithNext(Nest &nest, size_t loop, Value swaps);
  void orderBySource(Nest &nest);
  void emitSpace(Nest &nest);
  void emitNest(Nest &nest, const Place &place, Value onFirst, Value onLast);
  void emitJammed(Nest &nest, const Place &place, Value begin, Value end);
  Place advance(Place place, unsigned axis, Value by);
  Place advance(Place place, llvm::ArrayRef<Value> strides, Value by);
  Value less(Value a, Value b) { return compare(mlir::arith::CmpIPredicate::slt, a, b); }
  Value notMore(Value a, Value b) { return compare(mlir::arith::CmpIPredicate::sle, a, b); }
  Value compare(mlir::arith::CmpIPredicate how, Value a, Value b) { return create<mlir::arith::CmpIOp>(how, a, b); }
  Value least(Value a, Value b) { return create<mlir::arith::MinSIOp>(a, b); }
  Value difference(Value a, Value b) {
    return create<mlir::arith::SubIOp>(a, b, mlir::arith::IntegerOverflowFlags::nsw);
  }
  /// The multiple of `step` up to `v`, which is not negative.
  Value wholeSteps(Value v, int64_t step);
  /// What is left of an axis from the index of a loop on, but no more than a step.
  Value leftOf(const Loop &loop, Value at);
  void choose(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr) {
    quern::choose(b, loc, condition, then, otherwise);
  }
  /// Masked lanes are zero and not read.
  Value load(Value memref, Value at, int64_t lanes, Value mask = {});
  void store(Value vector, Value at, Value mask = {}, bool streamed = false);
  /// What operands have in lanes along the axis, from a place on; `known`, if given, is the source's.
  Values elementsAt(const Place &place, unsigned axis, int64_t lanes, Value mask, Value known = {});
  Value valueAt(const Place &place, unsigned axis, int64_t lanes, Value mask = {}, Value known = {}) {
    return emitBody(*this, plan.problem, elementsAt(place, axis, lanes, mask, known), lanes);
  }
  /// One element, with `known` for that of the source.
  void moveElement(const Place &place, Value known = {});
  /// Whether so much is moved that it is written past the caches, by this call.
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
  void emitLine(const Place &place, Value length);
  void emitSteps(const Place &place, Value length, bool streamed);
  void emitMaskedEnd(const Place &place, Value length, Value from);
  void emitStreamed(const Place &place, Value length);
  void emitUnmasked(const Place &place, Value length);
  void emitFew(const Place &place, Value length, int64_t lanes);
  Value boundaryFrom(const Place &place);

  // Packed lanes (OpenInterleave.cpp).
  void emitInterleaved();
  void interleave(const Place &place, Value at);

  // Tiles (OpenTile.cpp).
  void emitTiles();
  void emitTile(const Place &place, Value rows, Value columns, bool isDirect);
  Value foldsRows();
  void stageRows(const Place &place, Value rows, Value columns);
  void stageRow(const Place &place, Value to, Value columns, bool isWhole);
  void transpose(const Place &place, Value rows, Value columns);

  // Small tiles (OpenFolds.cpp).
  struct Folds {
    Value rows, columns;           ///< of a tile without another axis
    Value foldsRows, foldsColumns; ///< one of them at most
    Values isFolded;               ///< by loop around the tile
    Value isSmall;                 ///< whether tiles are taken with tables at all
  };
  bool mayFold() const;
  Folds readFolds();
  void emitFolded(const Folds &folds);
  void fillTable(Value table, Value outer, Value outerStride, Value inner, rows::Size innerStride);
  void transposeByTables(const Place &place, Value rows, Value columns, bool foldsRows);
  void moveByTables(const Place &place, Value rows, Value columns);

  // Squares of tiles (OpenSquares.cpp).
  /// Whether all lanes and columns of a square are there, and are written past the caches.
  enum class Squares { Partial, Whole, Streamed };
  bool mayShift() const;
  void fillRowSteps();
  Value gatherRows(Value start, Value from, int64_t at);
  void transposeDirectly(const Place &place, Value rows, Value columns, Squares how);
  void transposeSquare(const Place &place, Value row, Value column, llvm::function_ref<Value(Value, int64_t)> gather,
                       Value rows, Value columns, Squares how);
  void storeWholeColumns(const Place &place, llvm::ArrayRef<Value> columns, bool streamed);
  void storeColumns(const Place &place, llvm::ArrayRef<Value> columns, Value rowsLeft, Value columnsLeft);
  void storeColumn(const Place &place, Value column, Value rowsLeft);

  const OpenMapPlan &plan;
  Values flat;                    ///< by operand: the kernel's memref
  Value isFar;                    ///< whether tiles move more than the second level of the cache keeps
  Value streams;                  ///< whether this call writes past the caches
  Value staged, between, spilled; ///< scratch of a tile: its rows, of the transposition, of a column
  Value rowSteps;                 ///< how far rows of a square are from its first one in the source
  Value rowsAt, columnsAt;        ///< of a small tile: where rows are in the source, columns in the destination
};

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_CPU_OPENEMITTER_H
