//===- Coverage.cpp - Coverage of reorders --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reorder/Coverage.h"

#include "Support/Error.h"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace quern::cases::reorder {
namespace {

void printLabel(std::ostream &os, const std::string &label) { os << std::setw(20) << std::left << label << std::right; }

std::string textOf(const Cell &cell) {
  return concat(nameOf(cell.from), "->", nameOf(cell.to), ", ", nameOf(cell.family), ", ", nameOf(cell.attribute));
}

/// Formats "sum", or "sum/min" if every cell was reached.
class Count {
public:
  void add(int64_t number) {
    sum += number;
    min = std::min(min, number);
  }
  std::string text() const { return min > 0 && sum > 0 ? concat(sum, '/', min) : std::to_string(sum); }

private:
  int64_t sum = 0, min = INT64_MAX;
};

} // namespace

void Coverage::add(const Cell &cell, const ReorderDesc &sized) {
  ++cells[cell];
  ++ranks[static_cast<size_t>(sized.dst.ndims) - 1];
  empty += sized.dst.hasZeroDim();
  fromHost += sized.srcEngine == EngineKind::Cpu && sized.dstEngine == EngineKind::Gpu;
  toHost += sized.srcEngine == EngineKind::Gpu && sized.dstEngine == EngineKind::Cpu;
}

void Coverage::print(std::ostream &os) const {
  std::map<std::pair<std::string, LayoutFamily>, Count> byTypes, byAttribute;
  for (const Cell &cell : allCells()) {
    auto found = cells.find(cell);
    int64_t number = found == cells.end() ? 0 : found->second;
    byTypes[{concat(nameOf(cell.from), "->", nameOf(cell.to)), cell.family}].add(number);
    byAttribute[{std::string(nameOf(cell.attribute)), cell.family}].add(number);
  }
  printLabel(os, "problems/fewest");
  for (LayoutFamily family : allFamilies)
    os << std::setw(11) << nameOf(family);
  os << '\n';
  auto printRow = [&](const auto &table, const std::string &label) {
    printLabel(os, label);
    for (LayoutFamily family : allFamilies) {
      auto found = table.find({label, family});
      os << std::setw(11) << (found == table.end() ? "-" : found->second.text());
    }
    os << '\n';
  };
  for (DataType from : allTypes)
    for (DataType to : allTypes)
      printRow(byTypes, concat(nameOf(from), "->", nameOf(to)));
  for (AttributeClass attribute : allAttributes)
    printRow(byAttribute, std::string(nameOf(attribute)));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    os << "rank " << rank + 1 << ' ' << ranks[rank] << "; ";
  os << "without elements " << empty;
  if (fromHost || toHost)
    os << "; from the host " << fromHost << ", to it " << toHost;
  os << '\n';
}

std::vector<std::string> Coverage::missingPairs(bool isDevice) const {
  std::map<std::string, int64_t> pairs;
  for (const Cell &cell : allCells()) {
    auto found = cells.find(cell);
    int64_t number = found == cells.end() ? 0 : found->second;
    pairs[concat(nameOf(cell.from), "->", nameOf(cell.to), ", ", nameOf(cell.family))] += number;
    pairs[concat(nameOf(cell.attribute), ", ", nameOf(cell.family))] += number;
    pairs[concat("from ", nameOf(cell.from), ", ", nameOf(cell.attribute))] += number;
    pairs[concat("to ", nameOf(cell.to), ", ", nameOf(cell.attribute))] += number;
  }
  std::vector<std::string> missing;
  for (const auto &[name, number] : pairs)
    if (number == 0)
      missing.push_back(name);
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank] == 0)
      missing.push_back(concat("rank ", rank + 1));
  if (empty == 0)
    missing.emplace_back("a tensor without elements");
  if (isDevice && (fromHost == 0 || toHost == 0))
    missing.emplace_back(fromHost == 0 ? "from the host to a device" : "from a device to the host");
  return missing;
}

std::vector<std::string> Coverage::missingCells() const {
  std::vector<std::string> missing;
  for (const Cell &cell : allCells())
    if (!cells.contains(cell))
      missing.push_back(textOf(cell));
  return missing;
}

} // namespace quern::cases::reorder
