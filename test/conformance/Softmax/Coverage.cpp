//===- Coverage.cpp - Coverage of softmaxes -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Softmax/Coverage.h"

#include "Support/Error.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <span>

namespace quern::cases::softmax {
namespace {

constexpr int column = 11;

std::span<const DataType> typesOf(bool backward) {
  return backward ? std::span<const DataType>(backwardTypes) : std::span<const DataType>(forwardTypes);
}

std::span<const AttributeClass> attributesOf(bool backward) {
  return std::span<const AttributeClass>(allAttributes).first(backward ? backwardAttributes : std::size(allAttributes));
}

const char *directionOf(bool backward) { return backward ? "backward" : "forward"; }

void printLabel(std::ostream &os, const std::string &label) { os << std::setw(20) << std::left << label << std::right; }

} // namespace

void Coverage::addRows(DataType type, Path path, const std::vector<int64_t> &ofKind) {
  auto &counts = rows[{type, path}];
  for (size_t kind = 0; kind < counts.size(); ++kind)
    counts[kind] += ofKind[kind];
}

int64_t Coverage::count(const Cell &cell) const {
  auto found = cells.find(cell);
  return found == cells.end() ? 0 : found->second;
}

/// For each family, prints the number of problems with any attributes, and the minimum over attributes if it is not 0.
void Coverage::printTypes(std::ostream &os, bool backward) const {
  for (DataType from : typesOf(backward))
    for (DataType to : typesOf(backward)) {
      printLabel(os, backward ? concat(nameOf(to), "<-", nameOf(from)) : concat(nameOf(from), "->", nameOf(to)));
      for (LayoutFamily family : allFamilies) {
        int64_t sum = 0, min = INT64_MAX;
        for (AttributeClass attribute : attributesOf(backward)) {
          int64_t reached = count({backward, from, to, family, attribute});
          sum += reached;
          min = std::min(min, reached);
        }
        os << std::setw(column) << (min ? concat(sum, '/', min) : std::to_string(sum));
      }
      os << '\n';
    }
}

void Coverage::print(std::ostream &os) const {
  printLabel(os, "problems");
  for (LayoutFamily family : allFamilies)
    os << std::setw(column) << nameOf(family);
  os << '\n';
  for (bool backward : {false, true}) {
    printTypes(os, backward);
    for (AttributeClass attribute : attributesOf(backward)) {
      printLabel(os, concat(directionOf(backward), ' ', nameOf(attribute)));
      for (LayoutFamily family : allFamilies) {
        int64_t sum = 0;
        for (DataType from : typesOf(backward))
          for (DataType to : typesOf(backward))
            sum += count({backward, from, to, family, attribute});
        os << std::setw(column) << sum;
      }
      os << '\n';
    }
  }
  for (const auto &[key, number] : algs)
    os << (key.first ? "backward " : "forward ") << nameOf(key.second) << ' ' << number << "; ";
  os << '\n';
  for (Path path : allPaths)
    os << nameOf(path) << ' ' << paths[static_cast<size_t>(path)] << "; ";
  os << '\n';
  printLabel(os, "special rows");
  for (RowKind kind : allRowKinds)
    os << std::setw(column) << nameOf(kind);
  os << '\n';
  for (const auto &[key, counts] : rows) {
    printLabel(os, concat(nameOf(key.first), ", ", nameOf(key.second)));
    for (int64_t number : counts)
      os << std::setw(column) << number;
    os << '\n';
  }
}

std::vector<std::string> Coverage::missingPairs() const {
  std::vector<std::string> missing;
  std::map<std::string, int64_t> pairs;
  for (const Cell &cell : allCells()) {
    int64_t number = count(cell);
    std::string types = concat(directionOf(cell.backward), ' ', nameOf(cell.from), ", ", nameOf(cell.to));
    pairs[concat(types, ", ", nameOf(cell.family))] += number;
    pairs[concat(directionOf(cell.backward), ' ', nameOf(cell.attribute), ", ", nameOf(cell.family))] += number;
    pairs[concat(directionOf(cell.backward), " from ", nameOf(cell.from), ", ", nameOf(cell.attribute))] += number;
    pairs[concat(directionOf(cell.backward), " to ", nameOf(cell.to), ", ", nameOf(cell.attribute))] += number;
  }
  for (const auto &[name, number] : pairs)
    if (number == 0)
      missing.push_back(name);
  for (bool backward : {false, true})
    for (Alg alg : allAlgs)
      if (!algs.contains({backward, alg}))
        missing.push_back(concat(directionOf(backward), ' ', nameOf(alg)));
  for (DataType type : specialTypes)
    for (Path path : allPaths)
      for (RowKind kind : allRowKinds) {
        auto found = rows.find({type, path});
        if (found == rows.end() || found->second[static_cast<size_t>(kind)] == 0)
          missing.push_back(concat("special rows with ", nameOf(kind), " of ", nameOf(type), ", ", nameOf(path)));
      }
  return missing;
}

int64_t Coverage::missingCells() const {
  return std::count_if(allCells().begin(), allCells().end(), [&](const Cell &cell) { return count(cell) == 0; });
}

} // namespace quern::cases::softmax
