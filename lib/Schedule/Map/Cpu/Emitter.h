//===- Emitter.h - Emission of maps on a CPU ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emission shared by the three kinds of kernels. A *place* is a position in the loops: one address for each operand and
// the remainder of each limit. Loops advance the place; lines, tiles and points read and write at it. Emitter.cpp has
// the kernel and its loops, Body.cpp memory accesses and the body, Line.cpp lines and points, Tile.cpp tiles.
// VariantEmitter (Variants.h) replaces the kernel and its loops if sizes are open.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_EMITTER_H
#define QUERN_SCHEDULE_MAP_CPU_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Map/Body.h"
#include "Schedule/Map/Cpu/Plan.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
  MapPlace advance(MapPlace place, const MapLoop &loop, Index by);
  MapPlace advance(const MapPlace &place, unsigned axis, Index by) { return advance(place, MapLoop{axis}, by); }
  /// Returns the place at digits[i] in parts[i] of `group`.
  MapPlace advance(const MapPlace &place, const LaneGroup &group, llvm::ArrayRef<Value> digits);
  /// Emits a loop nest over the lanes of `group`; f(digits, lane) emits the body. The fastest part is unrolled `unroll`
  /// times if that divides it.
  void forLanes(const LaneGroup &group, int64_t unroll, llvm::function_ref<void(llvm::ArrayRef<Value>, Value)> f);

  // Limits (Emitter.cpp).
  /// Returns the remainder of a limit at `place`, for reading or for writing.
  Value room(const MapPlace &place, unsigned limit, bool write);
  /// Adds to the remainder of a limit. It is not folded: a mask of a number would be created again for each use.
  Value addTo(Value left, int64_t number);
  /// Returns whether the remainder exceeds `least`.
  Value hasRoom(const MapPlace &place, unsigned limit, bool write, int64_t least = 0);
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
  /// Loads the element at an address. For a loop index, returns the address, which is its value.
  Value elementAt(unsigned operand, Value at) {
    return problem.operands[operand].isIndex() ? at : loadScalar(flat[operand], at);
  }
  /// Stores a vector to the destination.
  void write(Value vector, Value at, Value mask = {}, bool streamed = false) {
    store(vector, flat.back(), at, mask, streamed);
  }
  /// Stores a vector to the destination, with a non-temporal store if `aligned` is true at run time; null: never.
  void writeWhereAligned(Value vector, Value at, Value aligned);
  /// Prefetches an element of the source into the second level: the prefetched lines are often so far from each other
  /// that few of them fit the first.
  void prefetchSource(Value at) { prefetch(flat[problem.source], at, /*locality=*/2); }
  /// Returns an operand's elements in lanes [first, first + count) of `group`: a contiguous vector, a broadcast, a
  /// shuffled pattern, or a gather. `at` is the address of the group's lane 0. An element that all lanes share is read
  /// whatever the mask. The strides along the group are numbers.
  Value read(unsigned operand, const LaneGroup &group, int64_t first, int64_t count, Value at, Value mask);
  /// Emits the body on those lanes. `known`, if given, is the source's value there.
  Value compute(const MapPlace &place, const LaneGroup &group, int64_t first, int64_t count, Value mask,
                Value known = {});
  /// Emits the body on `lanes` lanes along an axis, starting at `place`.
  Value compute(const MapPlace &place, unsigned axis, int64_t lanes, Value mask = {}, Value known = {}) {
    return compute(place, LaneGroup{{{axis, lanes}}}, 0, lanes, mask, known);
  }
  /// Emits the body on vectors, or on scalars for 0 lanes. `elements` has one value for each operand; null: not read.
  Value emitBody(llvm::ArrayRef<Value> elements, int64_t lanes) {
    return maps::emitBody(*this, problem, elements, lanes);
  }
  /// Emits the body on one element. `known`, if given, is the source's.
  Value computeElement(const MapPlace &place, Value known = {});
  /// Emits the body on one element and stores the result.
  void moveElement(const MapPlace &place, Value known = {}) {
    storeScalar(computeElement(place, known), flat.back(), place.bases.back());
  }
  /// Returns the value of the merged fill in every lane; a scalar for 0 lanes.
  Value paddingValue(int64_t lanes);
  mlir::VectorType vec(int64_t lanes, Type element) { return mlir::VectorType::get({lanes}, element); }

  MapPlan &plan;
  MapProblem &problem;
  Values flat; ///< by operand: the kernel's memref; null for a loop index

protected:
  void begin(const IterationSpace &space, double nsPerIteration);
  MapPlace origin();
  /// Transposes the squares of one register per row (Build/Transpose.h): `gather` loads them, `sink` stores columns.
  void transposeRegisters(llvm::function_ref<Value(Value, int64_t)> gather,
                          llvm::function_ref<void(Value, llvm::ArrayRef<Value>)> sink);
  /// Emits steps over [0, end), at least one; the last one is moved back to end there.
  void forSteps(Index end, int64_t step, llvm::function_ref<void(Value)> f);
  /// Loads the pieces of rows at, at + unit, … of a square's register. `placeOf` returns the address of a row's piece.
  Value gatherRows(Value memref, int64_t at, llvm::function_ref<Value(int64_t row)> placeOf);
  /// Moves a chunk of few rows or columns (Interleave.cpp).
  void emitInterleaving(const MapPlace &place);

private:
  MapPlace startOf(MapPlace place, Value iteration);
  void emitLoops(llvm::ArrayRef<MapLoop> nest, MapPlace place);
  MapPlace advanceBy(MapPlace place, const MapLoop &loop, int64_t by);
  void prefetchRuns(const MapPlace &place, const MapLoop &loop);
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
  void transposeTile(const MapPlace &place, Value rows, Value fromRow, Value columns);
  void stageColumns(const MapPlace &place, Value from);
  Value isDestinationAligned();

  Value narrowed(Value left);
  Value collect(unsigned operand, llvm::ArrayRef<int64_t> offsets, Value at, Value mask);

  Value block;   ///< index of the outer loop of the split loop
  Value between; ///< scratch of transpositions
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_EMITTER_H
