//===- Coverage.h - Coverage of binaries ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts pairs of properties, cells and ranks, and prints them compactly.
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
  /// Prints a table with one line per property and one column per algorithm, and a table of layouts against broadcasts
  /// and attributes.
  void print(std::ostream &os) const;
  /// Returns one line for each pair of properties that a first round must reach and this run did not.
  std::vector<std::string> missingPairs() const;
  /// Returns one line for each cell and each triple of types that was not reached.
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
