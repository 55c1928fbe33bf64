//===- Coverage.h - Coverage of reorders ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts cells and ranks, and prints them compactly.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_REORDER_COVERAGE_H
#define QUERN_CONFORMANCE_REORDER_COVERAGE_H

#include "Reorder/Cells.h"

#include <array>
#include <iosfwd>
#include <map>

namespace quern::cases::reorder {

class Coverage {
public:
  void add(const Cell &cell, const ReorderDesc &sized);
  /// Prints tables with one line for each pair of types and one for each class of attributes.
  void print(std::ostream &os) const;
  /// Returns one line for each pair of properties that a first round must reach and this run did not; for a device also
  /// for reorders from and to the CPU's engine.
  std::vector<std::string> missingPairs(bool isDevice) const;
  /// Returns one line for each cell that was not reached.
  std::vector<std::string> missingCells() const;

private:
  std::map<Cell, int64_t> cells;
  std::array<int64_t, maxDims> ranks{};
  int64_t empty = 0, fromHost = 0, toHost = 0;
};

} // namespace quern::cases::reorder

#endif // QUERN_CONFORMANCE_REORDER_COVERAGE_H
