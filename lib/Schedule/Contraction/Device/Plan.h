//===- Plan.h - Decisions for products on a device ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sub-group computes a *block* of rows and, for each lane, of one or a few columns: a work-item keeps the sums of its
// columns in all rows. A group has several blocks of rows, which share the rhs they read through group memory (a
// *panel*), and several *parts* of K, whose sums are combined there. Each block reads its own lhs: the lanes load
// contiguous elements and exchange them by shuffles.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Contraction/Chain.h"
#include "Schedule/Device/Strategy.h"

namespace quern::schedule::contractions {

/// Division of a product's K into steps and parts.
struct DeviceProduct {
  int64_t steps = 1;  ///< steps of the innermost loop whose lhs the lanes load at once; further lanes load other rows
  int64_t unit = 1;   ///< steps; parts and panels are multiples of it, except for the last ones
  int64_t length = 1; ///< steps of each part; the last may be shorter; an estimate if the number of steps is open
  int64_t panel = 0;  ///< steps of rhs that are copied to group memory at a time; 0: rhs is read in place
  int64_t pitch = 0;  ///< elements of the panel from a step to the next
};

struct DevicePlan {
  DevicePlan(const Chain &chain, const DeviceStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const DeviceStrategy &strategy;
  int64_t subGroup = 16; ///< work-items of a sub-group
  int64_t rows = 1;      ///< rows of a block
  int64_t vectors = 1;   ///< columns of a work-item for each accumulator, with a distance of subGroup
  int64_t blocks = 1;    ///< blocks of rows of a group
  int64_t parts = 1;     ///< parts of K
  int64_t tiles = 1;     ///< tiles of columns, an estimate if their number is open
  /// Sums go through group memory to the elementwise ops, whose code is then emitted once.
  bool isOverMemory = false;
  llvm::SmallVector<DeviceProduct, 4> products;
  std::string whyFallback; ///< reason why the rows recipe is preferred; empty: it is not

  int64_t group() const { return subGroup * blocks * parts; }
  int64_t width() const { return subGroup * vectors; }
  int64_t rowsOfGroup() const { return rows * blocks; }
  int64_t perRow() const { return static_cast<int64_t>(chain.accumulators.size()) * vectors; } ///< sums per row
  bool hasRowTail() const { return !chain.rows.isMultipleOf(rowsOfGroup()); }
  bool hasColumnTail() const { return !chain.columns.isMultipleOf(width()); }
  /// Returns true if lanes may have columns past those of rhs.
  bool readsBeyond(const Product &product) const {
    return product.readable.isOpen() || product.readable.isBelow(tiles * width());
  }
  /// Returns the number of elements of the group memory that sums go through.
  int64_t sumElements() const { return blocks * parts * rows * perRow() * subGroup; }
  /// Returns the number of elements of the panels of rhs, by type. Products with the same type use the same memory one
  /// after another.
  llvm::MapVector<mlir::Type, int64_t> panels() const;
  int64_t groupBytes() const; ///< group memory in bytes
  PlanAttr attribute() const;
};

/// Returns the element type of a panel, which has one element per column: a factor ready to be multiplied, or the
/// packed elements as an integer.
mlir::Type panelElement(const Product &product);

/// Returns the number of steps of the innermost loop over K, which may be open.
inline Size innerSteps(const Product &product) {
  return product.reduced.empty() ? Size(1) : product.reduced.back().extent;
}

/// Decides everything. Sets `whyFallback` if the rows recipe is preferred. Fails with a reason if sums do not fit the
/// registers of a work-item.
mlir::LogicalResult planDeviceContraction(DevicePlan &plan, std::string &whyNot);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H
