//===- Coverage.h - Coverage of RNNs --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counts cells, pairs of their properties and features, and prints them compactly.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RNN_COVERAGE_H
#define QUERN_CONFORMANCE_RNN_COVERAGE_H

#include "Rnn/Cells.h"

#include <iosfwd>
#include <map>
#include <string>

namespace quern::cases::rnn {

class Coverage {
public:
  explicit Coverage(Pass pass) : pass(pass) {}
  void add(const Cell &cell, const PrimitiveDesc &sized);
  void print(std::ostream &os) const;
  /// Returns one line for each pair of properties, and each feature of each kind, that a first round must reach and
  /// this one did not.
  std::vector<std::string> missingPairs() const;
  /// Returns one line with the number of cells of the product that were not reached.
  std::vector<std::string> missingCells() const;

private:
  Pass pass;
  std::map<Cell, int64_t> cells;
  std::map<std::pair<std::string, std::string>, int64_t> pairs; ///< by the names of two properties
  std::map<std::pair<Kind, Feature>, int64_t> features;
};

} // namespace quern::cases::rnn

#endif // QUERN_CONFORMANCE_RNN_COVERAGE_H
