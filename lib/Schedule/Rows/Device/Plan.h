//===- Plan.h - The plan of the rows recipe on a device -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan decides which work-items share a row, how many positions each has, and whether these stay in registers from
// the first read to the last write. Its text is the kernel's plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H
#define QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Build/Kernel.h"
#include "Schedule/Device/Strategy.h"
#include "Schedule/Rows/Chain.h"

namespace quern::schedule::rows {

/// The work-items that share a row: a sub-group or a whole group along it, or a single work-item, whose neighbors have
/// other rows.
enum class RowShare { SubGroup, Group, Item };

struct DeviceRowPlan {
  RowChain &chain;
  const DeviceStrategy &strategy;
  RowShare share = RowShare::SubGroup;
  int64_t subGroup = 16; ///< size of sub-groups
  int64_t group = 16;    ///< work-items of a group
  int64_t items = 16;    ///< neighboring work-items that share a row
  int64_t rows = 1;      ///< rows of a group
  int64_t slots = 1;     ///< positions of a work-item in a row, or in a step
  int64_t width = 1;     ///< contiguous positions of a work-item; divides `slots`; runs repeat every `items` × `width`
  /// True if the rows of work-items are contiguous: the group moves them as one range through group memory.
  bool isBoxed = false;
  bool isInRegisters = false; ///< true if `slots` cover the whole row: each element is read once and written once
  int sweeps = 1;
  llvm::SmallVector<unsigned, 6> order; ///< dims of known extent, outermost first
  llvm::SmallVector<unsigned, 6> open;  ///< other dims, outermost first
  int64_t count = 1;                    ///< rows of the dims of known extent, including those past limits
  int openDim = -1;                     ///< open dim along which a group's rows run, if all dims are open; else -1
  IterationSpace space;                 ///< counts groups
  std::string whyFallback;              ///< reason why another recipe is preferred; empty: none is

  DeviceRowPlan(RowChain &chain, const DeviceStrategy &strategy) : chain(chain), strategy(strategy) {}
  bool isAlongRow() const { return share != RowShare::Item; }
  /// Returns the distance from a work-item's first position to that of a slot.
  int64_t offsetOf(int64_t slot) const { return slot / width * width * items + slot % width; }
  /// Returns true if contiguous positions are contiguous in memory and are moved in one access.
  bool isInVectors(const Access &access) const;
  /// Returns true if `isBoxed` moves the operand through group memory: its rows form a contiguous range.
  bool isInBox(const Access &access) const;
  /// Returns the stride of rows in group memory in elements: an odd number of banks.
  int64_t boxPitch(mlir::Type element) const;
  /// Returns the number of positions in a step, over all work-items that share the row.
  int64_t step() const { return items * slots; }
  /// Returns true if the rows of a sub-group, one per work-item, are neighbors along the fastest of several dims,
  /// because sub-groups divide that dim.
  bool rowsFollowLanes() const;
  /// Returns true if sums have so many terms that their rounding error is accumulated separately.
  bool compensates() const;
  /// Returns the group memory of reductions in bytes. Boxes are chosen only if they fit, and then there is none.
  int64_t reductionBytes() const;
  PlanAttr attribute() const;
};

/// Makes the plan, and sets its `whyFallback` if another recipe is preferred.
void planDeviceRows(DeviceRowPlan &plan);

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_DEVICE_PLAN_H
