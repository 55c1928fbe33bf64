//===- Coverage.h - Coverage of softmaxes ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts cells, pairs of their properties, and special rows on each path, and prints them compactly.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SOFTMAX_COVERAGE_H
#define QUERN_CONFORMANCE_SOFTMAX_COVERAGE_H

#include "Softmax/Cells.h"

#include <array>
#include <iosfwd>
#include <map>

namespace quern::cases::softmax {

class Coverage {
public:
  void add(const Cell &cell, Alg alg) {
    ++cells[cell];
    ++algs[{cell.backward, alg}];
  }
  /// Adds rows of special data, by kind.
  void addRows(DataType type, Path path, const std::vector<int64_t> &ofKind);
  void addPath(Path path) { ++paths[static_cast<size_t>(path)]; }

  /// Prints tables with one line for each pair of types and one for each class of attributes.
  void print(std::ostream &os) const;
  /// Returns one line for each property or pair of properties that a first round must reach and this run did not.
  std::vector<std::string> missingPairs() const;
  /// Returns the number of cells of the product that were not reached.
  int64_t missingCells() const;

private:
  int64_t count(const Cell &cell) const;
  void printTypes(std::ostream &os, bool backward) const;

  std::map<Cell, int64_t> cells;
  std::map<std::pair<bool, Alg>, int64_t> algs;
  std::array<int64_t, std::size(allPaths)> paths{};
  std::map<std::pair<DataType, Path>, std::array<int64_t, std::size(allRowKinds)>> rows;
};

} // namespace quern::cases::softmax

#endif // QUERN_CONFORMANCE_SOFTMAX_COVERAGE_H
