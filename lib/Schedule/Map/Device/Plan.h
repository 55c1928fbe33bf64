//===- Plan.h - How a device carries out a map ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A group takes a *box*: some neighbouring indices of each axis. Its work-items write the points of the box in the
// order of the destination's memory. Where the source's order is another one, they first read them in that order into
// memory of the group. Neighbours in that memory may be a *vector*, which a work-item moves at once.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_DEVICE_PLAN_H
#define QUERN_SCHEDULE_MAP_DEVICE_PLAN_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Map/Axes.h"
#include "Schedule/Map/Groups.h"
#include "Schedule/Problem/Size.h"

namespace quern::maps {

/// In which order the vectors of a box are taken. They have places: all of a box without gaps, or, by lane, with
/// whole sub-groups on each run.
struct BoxOrder {
  Group axes;         ///< the first one counts vectors
  int64_t width = 1;  ///< points of a vector, neighbours along the first axis
  int64_t run = 1;    ///< vectors that follow each other in memory
  int64_t filled = 0; ///< places of a run, if sub-groups take runs each from its first vector on; else 0
  /// Points that one step along an axis of the order passes.
  int64_t step(unsigned axis) const { return width > 1 && axes.parts.front().axis == axis ? width : 1; }
  /// From one index of the order along an axis to the next; of an open stride, whose multiples are no
  /// numbers, that of one point.
  Size stride(llvm::ArrayRef<Size> strides, unsigned axis) const {
    return strides[axis].isOpen() ? strides[axis] : Size(strides[axis].known() * step(axis));
  }
  bool isByLane() const { return filled != 0; }
  int64_t places() const { return filled ? axes.lanes() / run * filled : axes.lanes(); }
};

struct DeviceMapPlan {
  MapProblem &problem;
  const DeviceStrategy &strategy;
  Numbers counts;         ///< of the box, by axis; 1 along curved axes
  BoxOrder written, read; ///< in the order of the destination and of the source
  /// By operand: whether a vector of the written order is one of its memory, too. That of the source through memory
  /// is one of the read order.
  llvm::SmallVector<bool, 4> inVectors;
  bool isThroughMemory = false, storesVectors = false; ///< the latter: in the group's memory
  Numbers inMemory;                                    ///< by axis: from one index to the next in the group's memory
  /// What lies in the group's memory between the indices of one vector that is written and those
  /// of the next, beyond that.
  int64_t skew = 0;
  int64_t memoryElements = 0;
  int64_t group = 1; ///< work-items
  /// Size of sub-groups, which matters to orders by lane: all of a point's place but the lane is then the
  /// same for a sub-group. 0: any.
  int64_t subGroup = 0;
  int64_t space = 1;                     ///< boxes, before those along open axes
  llvm::SmallVector<int64_t, 4> factors; ///< of these, as launches have them

  DeviceMapPlan(MapProblem &problem, const DeviceStrategy &strategy) : problem(problem), strategy(strategy) {}
  const Operand &source() const { return problem.operands[problem.source]; }
  bool isOpen(unsigned axis) const { return problem.axes[axis].extent.isOpen(); }
  /// Boxes along an axis that is not open.
  int64_t boxes(unsigned axis) const;
  std::string text() const;
};

/// Decides everything. Cannot fail.
void planDeviceMap(DeviceMapPlan &plan);

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_DEVICE_PLAN_H
