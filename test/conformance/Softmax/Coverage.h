//===- Coverage.h - What was reached --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts of the cells, of every pair of their properties and of the special rows on each path, printed compactly.
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
  /// Rows of special data, by kind.
  void addRows(DataType type, Path path, const std::vector<int64_t> &ofKind);
  void addPath(Path path) { ++paths[static_cast<size_t>(path)]; }

  /// Tables with one line for each pair of types and one for each class of attributes.
  void print(std::ostream &os) const;
  /// One line for each property, or pair of them, that a run of the first round must have reached and this one has not.
  std::vector<std::string> missingPairs() const;
  /// How many cells of the product were not reached.
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
