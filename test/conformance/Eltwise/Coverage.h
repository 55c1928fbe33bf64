//===- Coverage.h - Coverage of eltwise problems --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts cells and ranks, and prints them compactly.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_ELTWISE_COVERAGE_H
#define QUERN_CONFORMANCE_ELTWISE_COVERAGE_H

#include "Eltwise/Cells.h"

#include <array>
#include <iosfwd>
#include <map>

namespace quern::cases::eltwise {

class Coverage {
public:
  void add(const Cell &cell, const TensorDesc &sized);
  /// Prints tables with one line for each pair of types, each algorithm and each class of attributes.
  void print(std::ostream &os) const;
  /// Returns one line for each pair of properties that a first round must reach and this run did not.
  std::vector<std::string> missingPairs() const;
  /// Returns one line for each cell that was not reached.
  std::vector<std::string> missingCells() const;

private:
  std::map<Cell, int64_t> cells;
  std::array<int64_t, maxDims> ranks{};
  int64_t empty = 0;
};

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_COVERAGE_H
