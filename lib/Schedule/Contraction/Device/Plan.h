//===- Plan.h - What is decided of products on a device ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sub-group computes a *block* of rows and of one column, or a few, for each lane: a work-item keeps the sums of its
// columns in all rows. A group has several blocks of rows, which share what they read of rhs through its memory (a
// *panel*), and several *parts* of K, whose sums meet there. What a block reads of lhs is its own: lanes read it side
// by side and pass it on by shuffles.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H

#include "Schedule/Contraction/Chain.h"
#include "Schedule/Device/Strategy.h"

namespace quern::contractions {

/// How a product goes along K.
struct DeviceProduct {
  int64_t steps = 1;  ///< of the innermost loop, for which the lanes read lhs at once; the other lanes read other rows
  int64_t unit = 1;   ///< of steps, which parts and panels are whole numbers of, but for the last ones
  int64_t length = 1; ///< of each part, in steps; the last one may be shorter. Of an open number of steps what is usual
  int64_t panel = 0;  ///< steps of rhs that are copied to memory of the group at a time; 0: rhs is read where it lies
  int64_t pitch = 0;  ///< elements of the panel from a step to the next
};

struct DevicePlan {
  DevicePlan(const Chain &chain, const DeviceStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const DeviceStrategy &strategy;
  int64_t subGroup = 16; ///< size
  int64_t rows = 1;      ///< of a block
  int64_t vectors = 1;   ///< columns of a work-item for each accumulator, subGroup apart
  int64_t blocks = 1;    ///< of a group, below each other
  int64_t parts = 1;     ///< of K
  int64_t tiles = 1;     ///< of columns; not of an open number of them
  int64_t rowGroups = 1; ///< groups below each other; not of an open number of rows
  /// Sums go through memory of the group to the elementwise ops, which are then compiled once.
  bool isOverMemory = false;
  llvm::SmallVector<DeviceProduct, 4> products;

  int64_t group() const { return subGroup * blocks * parts; }
  int64_t width() const { return subGroup * vectors; }
  int64_t rowsOfGroup() const { return rows * blocks; }
  int64_t perRow() const { return static_cast<int64_t>(chain.accumulators.size()) * vectors; } ///< sums
  bool hasRowTail() const { return !chain.rows.isMultipleOf(rowsOfGroup()); }
  bool hasColumnTail() const { return !chain.columns.isMultipleOf(width()); }
  /// Lanes may have columns that rhs does not.
  bool readsBeyond(const Product &product) const {
    return product.readable.isOpen() || product.readable.isBelow(tiles * width());
  }
  /// Elements of the memory that sums go through.
  int64_t sumElements() const { return blocks * parts * rows * perRow() * subGroup; }
  std::string text() const; ///< one line
};

/// Steps along the innermost loop over K, which may be open.
inline Size innerSteps(const Product &product) {
  return product.reduced.empty() ? Size(1) : product.reduced.back().extent;
}

/// Decides everything. Fails with a reason where sums do not fit the registers of a work-item, or are reductions of
/// rows and this is not the last resort.
mlir::LogicalResult planDeviceContraction(DevicePlan &plan, std::string &whyNot);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_PLAN_H
