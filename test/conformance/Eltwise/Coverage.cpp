//===- Coverage.cpp - Coverage of eltwise problems ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Eltwise/Coverage.h"

#include "Support/Error.h"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace quern::cases::eltwise {
namespace {

/// Returns the properties of a cell that are counted per family, with the direction.
std::vector<std::string> labelsOf(const Cell &cell) {
  const std::string_view direction = cell.backward ? "bwd " : "fwd ";
  std::string_view alg = nameOf(cell.alg);
  alg.remove_prefix(sizeof("eltwise_") - 1);
  return {concat(direction, nameOf(cell.from), "->", nameOf(cell.to)), concat(direction, alg),
          concat(direction, nameOf(cell.attribute))};
}

std::string textOf(const Cell &cell) {
  std::vector<std::string> labels = labelsOf(cell);
  return concat(labels[0], ", ", labels[1], ", ", labels[2], ", ", nameOf(cell.family));
}

using Table = std::map<std::pair<std::string, LayoutFamily>, int64_t>;

/// Returns the count of every possible pair.
Table countPairs(const std::map<Cell, int64_t> &reached) {
  Table table;
  for (const Cell &cell : allCells()) {
    auto found = reached.find(cell);
    for (const std::string &label : labelsOf(cell))
      table[{label, cell.family}] += found == reached.end() ? 0 : found->second;
  }
  return table;
}

} // namespace

void Coverage::add(const Cell &cell, const TensorDesc &sized) {
  ++cells[cell];
  ++ranks[static_cast<size_t>(sized.ndims) - 1];
  empty += sized.hasZeroDim();
}

void Coverage::print(std::ostream &os) const {
  os << std::setw(34) << std::left << "problems" << std::right;
  for (LayoutFamily family : allFamilies)
    os << std::setw(10) << nameOf(family);
  std::string row;
  for (const auto &[key, count] : countPairs(cells)) {
    if (key.first != row)
      os << '\n' << std::setw(34) << std::left << key.first << std::right;
    row = key.first;
    os << std::setw(10) << count;
  }
  os << '\n';
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    os << "rank " << rank + 1 << ' ' << ranks[rank] << "; ";
  os << "without elements " << empty << '\n';
}

std::vector<std::string> Coverage::missingPairs() const {
  std::vector<std::string> missing;
  for (const auto &[key, count] : countPairs(cells))
    if (count == 0)
      missing.push_back(concat(key.first, ", ", nameOf(key.second)));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank] == 0)
      missing.push_back(concat("rank ", rank + 1));
  if (empty == 0)
    missing.emplace_back("a tensor without elements");
  return missing;
}

std::vector<std::string> Coverage::missingCells() const {
  std::vector<std::string> missing;
  for (const Cell &cell : allCells())
    if (!cells.contains(cell))
      missing.push_back(textOf(cell));
  return missing;
}

} // namespace quern::cases::eltwise
