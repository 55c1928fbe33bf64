//===- Emitter.h - Writing a planned map as loops and vectors ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What kernels of all kinds are written with. A *place* is where emission stands in the loops: an address for each
// operand and what is left of each limit. Loops advance it; kernels of the three kinds take it from there. What
// does not depend on a loop is moved before it when the loop is complete; no later pass does so. MapEmitter.cpp
// writes the kernel and its loops, MapBody.cpp memory accesses and the body on vectors, MapLine.cpp lines and
// points, MapTile.cpp tiles.
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

namespace quern::maps {

class MapEmitter : public KernelBuilder {
public:
  explicit MapEmitter(MapPlan &plan);
  /// Writes the kernel behind the problem.
  mlir::func::FuncOp emit();

  struct Place {
    Values bases; ///< by operand: the address of lane 0, in elements
    /// By limit: `read` less the weights of the indices so far; a point is read if its own weights stay below.
    Values left;
  };

  // Loops (MapEmitter.cpp).
  /// The place `by` steps of `loop` further; `by` is an index from 0 along a curved axis.
  Place advance(const Place &place, const Loop &loop, Value by);
  /// The place at digits[i] in parts[i] of the group.
  Place advance(const Place &place, const Group &group, llvm::ArrayRef<Value> digits);
  /// A loop from `begin` to `end`; f(index) writes its body.
  /// A rolled loop nest over the lanes of `group`; f(digits, lane) writes the body, `unroll`
  /// times along the fastest part.
  void forLanes(const Group &group, int64_t unroll, llvm::function_ref<void(llvm::ArrayRef<Value>, Value)> f);
  void choose(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr) {
    quern::choose(b, loc, condition, then, otherwise);
  }

  // Limits (MapEmitter.cpp).
  /// What is left to read or to write.
  Value room(const Place &place, unsigned limit, bool write);
  /// Whether the limits that do not move along `lanesOf` leave the point; null if they always do.
  Value isInside(const Place &place, const Group &lanesOf, bool write);
  /// Which of lanes [first, first + count) of `group` are left by the limits that move along
  /// it; null if all always are.
  Value laneMask(const Place &place, const Group &group, int64_t first, int64_t count, bool write);
  /// Whether a lane of such a mask is on; null if one always is. `begins`: lane 0 of the group is the first of
  /// these, and it exists unless what is read may begin beyond a limit. Where no lane is on, the vector may lie
  /// beyond all memory of an operand; it is to be left out then, since an access whose fault is suppressed costs as
  /// much as hundreds of others.
  Value anyLane(const Place &place, const Group &group, int64_t first, int64_t count, bool write, bool begins,
                Value mask);
  /// As prefixMask, of what is left of a limit.
  Value maskOfLeft(Value left, int64_t lanes) { return prefixMask(narrowed(left), lanes); }
  /// Whether some point of the kernel's loops and groups lies beyond the limit.
  bool mayExceed(unsigned limit, bool write) const;

  /// Whether this call may write past the caches; null: every call may.
  Value mayStream();

  // Memory and the body (MapBody.cpp).
  /// A vector from contiguous elements. Masked lanes are zero and not read.
  Value loadFrom(Value memref, Value at, int64_t lanes, Value mask);
  Value load(unsigned operand, Value at, int64_t lanes, Value mask);
  /// The element at an address; of the index of a loop, which is its address, that.
  Value loadScalar(unsigned operand, Value at);
  /// To the destination. Masked lanes are not written; `streamed` asks for an address that is a multiple of the vector.
  void store(Value vector, Value at, Value mask, bool streamed);
  void storeScalar(Value element, Value at);
  /// What an operand has in lanes [first, first + count) of `group`: contiguous, one for all, a pattern, or collected.
  /// `at` is the address of the group's lane 0; if one element serves all lanes, it is read whatever the mask.
  Value read(unsigned operand, const Group &group, int64_t first, int64_t count, Value at, Value mask);
  /// The body on those lanes. `known`, if given, is the value of operand `knownOperand` there.
  Value compute(const Place &place, const Group &group, int64_t first, int64_t count, Value mask, Value known = {},
                unsigned knownOperand = 0);
  /// The body on vectors, or on scalars for 0 lanes; by operand, null where the body reads none.
  Value emitBody(llvm::ArrayRef<Value> elements, int64_t lanes) {
    return maps::emitBody(*this, problem, elements, lanes);
  }
  /// What a merged fill writes, in every lane; a scalar for 0 lanes.
  Value paddingValue(int64_t lanes);

  /// Scratch of the kernel's stack, aligned to 64 bytes.
  Value scratch(int64_t elements, Type element);
  mlir::VectorType vec(int64_t lanes, Type element) { return mlir::VectorType::get({lanes}, element); }

  MapPlan &plan;
  MapProblem &problem;
  Values flat; ///< by operand: the kernel's memref; null for the index of a loop

private:
  Place startOf(Place place, Value iteration);
  void emitLoops(llvm::ArrayRef<Loop> nest, Place place);
  Place further(Place place, const Loop &loop, int64_t by);
  void prefetch(const Place &place, const Loop &loop);
  // One for each kind.
  void emitLine(const Place &place);  // MapLine.cpp
  void emitPoint(const Place &place); // MapLine.cpp
  void emitTile(const Place &place);  // MapTile.cpp

  // Tiles.
  void emitSquares(const Place &place);
  Place shiftedBack(const Place &start);
  void prefetchRow(const Place &here);
  void forVectors(const Place &place, const Group &group, int64_t most,
                  llvm::function_ref<void(const Place &, Value, int64_t, int64_t)> f);
  void stageRows(const Place &place, Value to);
  Value laneOffset(const Group &group, Value lane, llvm::ArrayRef<int64_t> perAxis);
  void forSteps(int64_t end, int64_t step, llvm::function_ref<void(Value)> f);
  void transposeTile(const Place &place, Value rows, Value fromRow, Value columns);
  void stageColumns(const Place &place, Value from);
  Value isDestinationAligned();
  void storeLine(Value vector, Value at, Value aligned);

  // Tiles of few rows or columns (MapInterleave.cpp).
  void emitInterleaving(const Place &place);
  Place placeOf(const Place &place, const Group &group, int64_t lane);
  Value narrowed(Value left);
  Value collect(unsigned operand, llvm::ArrayRef<int64_t> offsets, Value at, Value mask);

  Value block; ///< of the loop that was cut in two, the outer one's index
};

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_CPU_EMITTER_H
