//===- Groups.h - Lanes over parts of axes -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The elements that a map moves at a time: vectors on the CPU, work-items on a device.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_GROUPS_H
#define QUERN_SCHEDULE_MAP_GROUPS_H

#include "Schedule/Map/Axes.h"

namespace quern::schedule::maps {

/// The first `count` indices of an axis, from the current position of the loops.
struct Part {
  unsigned axis = 0;
  int64_t count = 1;
};

/// Lanes, fastest part first: lane = index in parts[0] + count of parts[0] · (index in parts[1] + …). All parts except
/// the last are whole axes. Lanes may exceed the end of an axis; a limit then masks them.
struct LaneGroup {
  llvm::SmallVector<Part, 3> parts;
  int64_t lanes() const {
    int64_t product = 1;
    for (const Part &part : parts)
      product *= part.count;
    return product;
  }
  bool has(unsigned axis) const {
    return llvm::any_of(parts, [&](const Part &part) { return part.axis == axis; });
  }
  /// Returns true if consecutive lanes have consecutive addresses.
  bool isContiguousIn(llvm::ArrayRef<Size> strides) const {
    int64_t length = 1;
    for (const Part &part : parts) {
      if (strides[part.axis] != length)
        return false;
      length *= part.count;
    }
    return true;
  }
  /// Returns true if the offset of a sum of lanes is the sum of their offsets, provided that one lane is a multiple of
  /// a power of two and the other is below it.
  bool splitsAtPowers() const {
    return llvm::all_of(llvm::ArrayRef(parts).drop_back(),
                        [](const Part &part) { return (part.count & (part.count - 1)) == 0; });
  }
  /// Returns Σ index(lane)[part] · perAxis[part's axis]: the offset of a lane's address, or of its share of a limit,
  /// from lane 0.
  int64_t sum(int64_t lane, llvm::ArrayRef<int64_t> perAxis) const;
  /// Returns the offset of a lane for strides that are numbers along the parts.
  int64_t sum(int64_t lane, llvm::ArrayRef<Size> strides) const;
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_GROUPS_H
