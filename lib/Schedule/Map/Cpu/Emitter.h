//===- Emitter.h - Emission of maps on a CPU ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emission shared by the three kinds of kernels. A *place* is a position in the loops: one address for each operand and
// the remainder of each limit. Loops advance the place; lines, tiles and points read and write at it. Loop-invariant
// operations are moved out of each loop of the finished kernel; no later pass does that. Emitter.cpp has the kernel and
// its loops, Body.cpp memory accesses and the body, Line.cpp lines and points, Tile.cpp tiles.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_EMITTER_H
#define QUERN_SCHEDULE_MAP_CPU_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Map/Body.h"
#include "Schedule/Map/Cpu/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace quern::schedule::maps {

class MapEmitter : public KernelBuilder {
public:
  explicit MapEmitter(MapPlan &plan);
  /// Inserts the kernel after the problem.
  mlir::func::FuncOp emit();

  struct MapPlace {
    Values bases; ///< by operand: the address of lane 0, in elements
    /// By limit: `read` minus the weighted indices so far. A point is read if its own weighted indices are below it.
    Values left;
  };

  // Loops (Emitter.cpp).
  /// Returns the place `by` steps of `loop` further. Along a non-linear axis, `by` counts from index 0.
  MapPlace advance(const MapPlace &place, const MapLoop &loop, Value by);
  /// Returns the place at digits[i] in parts[i] of `group`.
  MapPlace advance(const MapPlace &place, const LaneGroup &group, llvm::ArrayRef<Value> digits);
  /// Emits a loop nest over the lanes of `group`; f(digits, lane) emits the body. The fastest part is unrolled `unroll`
  /// times if that divides it.
  void forLanes(const LaneGroup &group, int64_t unroll, llvm::function_ref<void(llvm::ArrayRef<Value>, Value)> f);
  void choose(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr) {
    quern::choose(b, loc, condition, then, otherwise);
  }

  // Limits (Emitter.cpp).
  /// Returns the remainder of a limit at `place`, for reading or for writing.
  Value room(const MapPlace &place, unsigned limit, bool write);
  /// Returns whether the point is within the limits that do not vary along `lanesOf`; null if it always is.
  Value isInside(const MapPlace &place, const LaneGroup &lanesOf, bool write);
  /// Returns the mask of lanes [first, first + count) of `group` that are within the limits that vary along it; null if
  /// all always are.
  Value laneMask(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, bool write);
  /// Returns whether any lane of the mask is set; null if one always is. `begins`: lane 0 of the group is the first of
  /// these lanes and exists, unless reads may start past a limit. If no lane is set, the access must be skipped: its
  /// addresses may be outside the operand, and a suppressed fault costs as much as hundreds of accesses.
  Value anyLane(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, bool write, bool begins,
                Value mask);
  /// Returns the mask of the lanes that are below `left`, the remainder of a limit.
  Value maskOfLeft(Value left, int64_t lanes) { return prefixMask(narrowed(left), lanes); }
  /// Returns true if some point of the kernel's loops and groups exceeds the limit.
  bool mayExceed(unsigned limit, bool write) const;

  /// Returns whether this call may use non-temporal stores; null: every call may.
  Value mayStream();

  // Memory and the body (Body.cpp).
  /// Loads contiguous elements. Masked lanes are zero and are not read.
  Value loadFrom(Value memref, Value at, int64_t lanes, Value mask);
  Value load(unsigned operand, Value at, int64_t lanes, Value mask);
  /// Loads the element at an address. For a loop index, returns the address, which is its value.
  Value loadScalar(unsigned operand, Value at);
  /// Stores to the destination. Masked lanes are not written. `streamed` requests a non-temporal store, whose address
  /// must be a multiple of the vector's size.
  void store(Value vector, Value at, Value mask, bool streamed);
  void storeScalar(Value element, Value at);
  /// Returns an operand's elements in lanes [first, first + count) of `group`: a contiguous vector, a broadcast, a
  /// shuffled pattern, or a gather. `at` is the address of the group's lane 0. An element that all lanes share is read
  /// whatever the mask.
  Value read(unsigned operand, const LaneGroup &group, int64_t first, int64_t count, Value at, Value mask);
  /// Emits the body on those lanes. `known`, if given, is the value of operand `knownOperand` there.
  Value compute(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, Value mask,
                Value known = {}, unsigned knownOperand = 0);
  /// Emits the body on vectors, or on scalars for 0 lanes. `elements` has one value for each operand; null: not read.
  Value emitBody(llvm::ArrayRef<Value> elements, int64_t lanes) {
    return schedule::maps::emitBody(*this, problem, elements, lanes);
  }
  /// Returns the value of the merged fill in every lane; a scalar for 0 lanes.
  Value paddingValue(int64_t lanes);

  /// Allocates a buffer in the kernel's frame, aligned to 64 bytes. limitFrame() moves large ones to scratch memory.
  Value scratch(int64_t elements, Type element);
  mlir::VectorType vec(int64_t lanes, Type element) { return mlir::VectorType::get({lanes}, element); }

  MapPlan &plan;
  MapProblem &problem;
  Values flat; ///< by operand: the kernel's memref; null for a loop index

private:
  MapPlace startOf(MapPlace place, Value iteration);
  void emitLoops(llvm::ArrayRef<MapLoop> nest, MapPlace place);
  MapPlace advanceBy(MapPlace place, const MapLoop &loop, int64_t by);
  void prefetch(const MapPlace &place, const MapLoop &loop);
  // One emitter for each kind.
  void emitLine(const MapPlace &place);  // Line.cpp
  void emitPoint(const MapPlace &place); // Line.cpp
  void emitTile(const MapPlace &place);  // Tile.cpp

  // Tiles (Tile.cpp).
  void emitSquares(const MapPlace &place);
  MapPlace shiftedBack(const MapPlace &start);
  void prefetchRow(const MapPlace &here);
  void forVectors(const MapPlace &place, const LaneGroup &group, int64_t most,
                  llvm::function_ref<void(const MapPlace &, Value, int64_t, int64_t)> f);
  void stageRows(const MapPlace &place, Value to);
  Value laneOffset(const LaneGroup &group, Value lane, llvm::ArrayRef<int64_t> perAxis);
  void forSteps(int64_t end, int64_t step, llvm::function_ref<void(Value)> f);
  void transposeTile(const MapPlace &place, Value rows, Value fromRow, Value columns);
  void stageColumns(const MapPlace &place, Value from);
  Value isDestinationAligned();
  void storeLine(Value vector, Value at, Value aligned);

  // Tiles of few rows or columns (Interleave.cpp).
  void emitInterleaving(const MapPlace &place);
  MapPlace placeOf(const MapPlace &place, const LaneGroup &group, int64_t lane);
  Value narrowed(Value left);
  Value collect(unsigned operand, llvm::ArrayRef<int64_t> offsets, Value at, Value mask);

  Value block; ///< index of the outer loop of the split loop
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_EMITTER_H
