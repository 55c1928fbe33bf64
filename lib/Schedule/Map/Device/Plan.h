//===- Plan.h - The plan of a map on a device ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A group processes a *box*: some consecutive indices of each axis. Its work-items write the points of the box in the
// order of the destination's memory. If the source has a different order, they first read the points in that order into
// group memory. Points that are contiguous may form a *vector*, which one work-item moves in a single access.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_DEVICE_PLAN_H
#define QUERN_SCHEDULE_MAP_DEVICE_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Build/Kernel.h"
#include "Schedule/Device/Strategy.h"
#include "Schedule/Map/Axes.h"
#include "Schedule/Map/Groups.h"
#include "Schedule/Problem/Size.h"

namespace quern::schedule::maps {

/// The order in which the vectors of a box are processed. Each vector has a place. Places are numbered without gaps, or
/// by lane: then each run starts a new sub-group.
struct BoxOrder {
  LaneGroup axes;     ///< `axes.parts[0]` counts vectors
  int64_t width = 1;  ///< points of a vector, consecutive along the first axis
  int64_t run = 1;    ///< vectors that are contiguous in memory
  int64_t filled = 0; ///< places of a run, including unused ones, if each run starts a sub-group; otherwise 0
  /// Returns the number of points in one step along an axis of the order.
  int64_t step(unsigned axis) const { return width > 1 && axes.parts.front().axis == axis ? width : 1; }
  /// Returns the stride between consecutive indices of the order along an axis.
  Size stride(llvm::ArrayRef<Size> strides, unsigned axis) const { return strides[axis] * step(axis); }
  bool isByLane() const { return filled != 0; }
  int64_t places() const { return filled ? axes.lanes() / run * filled : axes.lanes(); }
};

struct DeviceMapPlan {
  MapProblem &problem;
  const DeviceStrategy &strategy;
  Numbers counts;         ///< indices of the box, by axis; 1 along non-linear axes
  BoxOrder written, read; ///< orders of the destination and of the source
  /// By operand: true if a vector of the written order is contiguous in it. A source that goes through group memory is
  /// read in vectors of the read order.
  llvm::SmallVector<bool, 4> inVectors;
  bool isThroughMemory = false, storesVectors = false; ///< true if the source uses group memory; stores vectors there
  Numbers inMemory;                                    ///< by axis: stride in group memory, in elements
  /// Elements of padding in group memory between consecutive vectors of the written order.
  int64_t skew = 0;
  int64_t memoryElements = 0;
  int64_t group = 1; ///< work-items
  /// Size of sub-groups, which matters to orders by lane: all digits of a point's place except the lane are then
  /// uniform in a sub-group. 0: any size.
  int64_t subGroup = 0;
  IterationSpace space; ///< the boxes

  DeviceMapPlan(MapProblem &problem, const DeviceStrategy &strategy) : problem(problem), strategy(strategy) {}
  const Operand &source() const { return problem.operands[problem.source]; }
  bool isOpen(unsigned axis) const { return problem.axes[axis].extent.isOpen(); }
  /// Returns the number of boxes along an axis that is not open.
  int64_t boxes(unsigned axis) const;
  int64_t groupBytes() const; ///< group memory in bytes
  PlanAttr attribute() const;
};

/// Decides all fields. Cannot fail.
void planDeviceMap(DeviceMapPlan &plan);

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_DEVICE_PLAN_H
