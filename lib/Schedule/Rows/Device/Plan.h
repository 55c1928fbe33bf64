//===- Plan.h - What the rows recipe decides for a device ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan says who shares a row, how many positions of it a work-item has, and whether these stay in registers from the
// first read to the last write. Its text is the kernel's plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H
#define QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Rows/Chain.h"

namespace quern::rows {

/// Who works on a row: neighbours along it, in a sub-group or in a whole group, or one work-item, whose
/// neighbours have other rows.
enum class RowShare { SubGroup, Group, Item };

struct DeviceRowPlan {
  RowChain &chain;
  const DeviceStrategy &strategy;
  RowShare share = RowShare::SubGroup;
  int64_t subGroup = 16; ///< size
  int64_t group = 16;    ///< work-items
  int64_t items = 16;    ///< work-items of a row, side by side
  int64_t rows = 1;      ///< of a group
  int64_t slots = 1;     ///< positions that a work-item has of a row, or of a step
  int64_t width = 1; ///< so many of these, which divides them, lie side by side, and runs of as many are `items` apart
  /// Rows of work-items lie one behind the other: a group moves them as one run, through its memory.
  bool isBoxed = false;
  bool isHeld = false; ///< they are all of the row: each element is read once and written once
  int sweeps = 1;
  llvm::SmallVector<unsigned, 6> order; ///< dims of a number of points, outermost first
  int64_t count = 1;                    ///< rows of those dims, those beyond limits included
  int openDim = -1;                     ///< the open dim that the rows of a group lie along, where there is no other
  int64_t space = 1;                    ///< groups, times the factors
  llvm::SmallVector<int64_t, 4> factors;

  DeviceRowPlan(RowChain &chain, const DeviceStrategy &strategy) : chain(chain), strategy(strategy) {}
  bool isAlongRow() const { return share != RowShare::Item; }
  /// From a work-item's first position to that of a slot.
  int64_t offsetOf(int64_t slot) const { return slot / width * width * items + slot % width; }
  /// Positions side by side are side by side in memory, too, and are moved at once.
  bool isInVectors(const Access &access) const;
  /// It is moved so: its rows are the run.
  bool isInBox(const Access &access) const;
  /// From one row to the next in the group's memory, in elements: an odd number of banks.
  int64_t boxPitch(mlir::Type element) const;
  /// Positions of a step that all work-items have.
  int64_t step() const { return items * slots; }
  /// A sub-group's rows, one of each work-item, are neighbours along the fastest of several dims: it divides that.
  bool rowsFollowLanes() const;
  /// Sums of so many terms one after the other keep their error apart.
  bool compensates() const;
  std::string text() const;
};

/// Makes the plan, or fails with a reason where another recipe would be faster, unless this is the last resort.
mlir::LogicalResult planDeviceRows(DeviceRowPlan &plan, std::string &whyNot);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H
