//===- Coverage.h - What binaries reached --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts of pairs of properties, of cells and of ranks, printed compactly.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_BINARY_COVERAGE_H
#define QUERN_CONFORMANCE_BINARY_COVERAGE_H

#include "Binary/Cells.h"

#include <iosfwd>
#include <map>
#include <set>

namespace quern::cases::binary {

class Coverage {
public:
  void add(const Cell &cell, const Types &types, const BinaryDesc &sized);
  /// A table with one line for each property and one column for each algorithm, and one of layouts against
  /// broadcasts and attributes.
  void print(std::ostream &os) const;
  /// One line for each pair of properties that a first round must have reached and this run has not.
  std::vector<std::string> missingPairs() const;
  /// One line for each cell and each triple of types that was not reached.
  std::vector<std::string> missingCells() const;

private:
  int64_t countOf(const std::string &first, const std::string &second) const;

  std::map<std::pair<std::string, std::string>, int64_t> pairs;
  std::map<Cell, int64_t> cells;
  std::set<Types> triples;
  std::array<int64_t, maxDims> ranks{};
  int64_t empty = 0;
};

} // namespace quern::cases::binary

#endif // QUERN_CONFORMANCE_BINARY_COVERAGE_H
