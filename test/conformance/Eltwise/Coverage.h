//===- Coverage.h - What eltwise problems reached ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts of the cells and of ranks, printed compactly.
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
  /// Tables with one line for each pair of types, each algorithm and each class of attributes.
  void print(std::ostream &os) const;
  /// One line for each pair of properties that a first round must have reached and this run has not.
  std::vector<std::string> missingPairs() const;
  /// One line for each cell that was not reached.
  std::vector<std::string> missingCells() const;

private:
  std::map<Cell, int64_t> cells;
  std::array<int64_t, maxDims> ranks{};
  int64_t empty = 0;
};

} // namespace quern::cases::eltwise

#endif // QUERN_CONFORMANCE_ELTWISE_COVERAGE_H
