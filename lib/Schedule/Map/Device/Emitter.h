//===- Emitter.h - Emission of maps for a device --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_MAP_DEVICE_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Device/GroupMemory.h"
#include "Schedule/Map/Body.h"
#include "Schedule/Map/Device/Plan.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace quern::schedule::maps {

class DeviceMapEmitter : KernelBuilder {
public:
  explicit DeviceMapEmitter(DeviceMapPlan &plan)
      : KernelBuilder(plan.problem.function), plan(plan), problem(plan.problem) {
    loc = problem.op->getLoc();
  }
  /// Inserts the kernel after the problem.
  mlir::func::FuncOp emit();

private:
  /// A point of the box, given by its vector and its index in that. `at`, plus `loopAt` if that is not null, is the
  /// distance of the vector from the work-item's first place in the order.
  struct Point {
    const BoxOrder &order;
    int64_t at = 0;
    Value loopAt;
    Value indexInVector = Value(); ///< index of the point within the vector; null: 0
  };
  /// A digit of a point's position: a number, plus a value that grows by 1 between neighboring work-items. The latter
  /// is an index, so that drivers see consecutive addresses; null: the digit has none.
  struct Piece {
    Value number, neighbor;
  };

  int64_t subGroupOfItems() const;
  void emitBox(Value box);
  void forPoints(const BoxOrder &order, bool isRolled, llvm::function_ref<void(const Point &)> f);
  Piece digitOf(const Point &point, int64_t unit, int64_t count);
  Value digitOfPlace(const Point &point, Value first, int64_t unit, int64_t count, bool isLast);
  bool isOfItem(const Operand &operand) const;
  Value inOrder(const Point &point);
  /// Returns the index of a point along an axis of the box; null for 0.
  Value digitAlong(const Point &point, unsigned axis);
  void readBox();
  void keepElements();
  void readElements(const Point &point, bool asVector);
  void writeElements(const Point &point, bool asVector, Value isRead);
  void writePoint(const Point &point);
  Value elementAt(unsigned operand, Value at);
  Values load(unsigned operand, const Point &point, int64_t count, Value isRead);
  Values loadFromMemory(const Point &point, int64_t count);
  /// Emits `vector` if all points of the vector are read and aligned, otherwise `one` for each point.
  void forVector(const Point &point, llvm::function_ref<void(const Point &)> vector,
                 llvm::function_ref<void(const Point &)> one);
  Value areAligned();
  /// Returns whether every digit is within its axis; null: always.
  Value insideAxes(const Point &point);
  Value insideLimits(const Point &point, bool write);
  /// Returns base + Σ strides·digits; a null base is 0.
  Value addressOf(const Point &point, llvm::ArrayRef<Size> strides, Value base);
  Value addressInMemory(const Point &point);
  Value addressOf(unsigned operand, const Point &point) {
    return addressOf(point, problem.operands[operand].strides, bases[operand]);
  }

  Value number(int64_t value);
  Value narrow(Value v);
  Value wide(Value v);
  bool isSmall() const;
  Value scaled(Value v, Size by);
  Value addressAt(Value at, const AccessFunction &function);
  Value divided(Value v, int64_t by);
  Value modulo(Value v, int64_t by);

  DeviceMapPlan &plan;
  MapProblem &problem;
  mlir::Operation *box = nullptr; ///< digits that all points share are inserted before it
  mlir::Type numbers;             ///< type of box and point counts: i32 if that is sufficient, otherwise index
  Value local, item, memory;      ///< the work-item's index in its group, as a number and as an index; its group memory
  /// The work-item's index in the sub-group, an index, and the sub-group's first item in the group, a number. Null if
  /// the orders do not depend on sub-groups.
  Value lane, firstLane;
  Value aligned; ///< whether vectors are aligned; null: always
  Values flat;   ///< by operand: the kernel's memref; null for a loop index
  Values kept;   ///< by operand: the element that all points of the work-item share; null: they differ
  Values bases;  ///< by operand: the address of the box
  Values firsts; ///< by axis: the box's first index, a number
  Values rooms;  ///< by open axis: the number of the box's indices that exist
  Values left;   ///< by limit: `read` minus the weighted first indices of the box, a number
  std::map<std::tuple<void *, int64_t, int64_t>, Value> digitsOfItem;
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_DEVICE_EMITTER_H
