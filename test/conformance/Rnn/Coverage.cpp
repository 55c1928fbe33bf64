//===- Coverage.cpp - Coverage of RNNs ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Rnn/Coverage.h"

#include "Support/Error.h"

#include <iomanip>
#include <ostream>
#include <set>

namespace quern::cases::rnn {
namespace {

std::vector<std::string> propertiesOf(const Cell &cell) {
  return {std::string(nameOf(cell.kind)), std::string(nameOf(cell.direction)), std::string(nameOf(cell.type)),
          optionsText(cell.options), std::string(nameOf(cell.family))};
}

/// Returns true if an RNN of this kind can have the feature.
bool mayHave(Kind kind, Feature feature) {
  switch (feature) {
  case Feature::Stack:
  case Feature::StackConcatenated:
  case Feature::Unquantized:
    return !hasAttention(kind);
  default:
    return true;
  }
}

void printLabel(std::ostream &os, std::string_view label) { os << std::setw(24) << std::left << label << std::right; }

/// Returns all cells of all rounds.
std::set<Cell> everyCell(Pass pass) {
  std::set<Cell> all;
  for (int64_t number = 0; number < cellsOfARound(pass) * roundsOfAll; ++number)
    all.insert(cellOf(pass, number));
  return all;
}

} // namespace

void Coverage::add(const Cell &cell, const PrimitiveDesc &sized) {
  ++cells[cell];
  std::vector<std::string> properties = propertiesOf(cell);
  for (size_t i = 0; i < properties.size(); ++i)
    for (size_t j = i + 1; j < properties.size(); ++j)
      ++pairs[{properties[i], properties[j]}];
  for (Feature feature : featuresOf(sized))
    ++features[{cell.kind, feature}];
}

void Coverage::print(std::ostream &os) const {
  auto countOf = [&](const std::string &a, const std::string &b) {
    auto found = pairs.find({a, b});
    return found == pairs.end() ? 0 : found->second;
  };
  constexpr int column = 7;
  printLabel(os, "kind, direction");
  for (DataType type : typesOf(pass))
    os << std::setw(column) << nameOf(type);
  for (LayoutFamily family : allFamilies)
    os << std::setw(12) << nameOf(family);
  os << '\n';
  for (Kind kind : allKinds)
    for (RnnDirection direction : allDirections) {
      if (!exists(kind, direction, DataType::F32))
        continue;
      printLabel(os, concat(nameOf(kind), ' ', nameOf(direction)).substr(0, 23));
      std::map<DataType, int64_t> byType;
      std::map<LayoutFamily, int64_t> byFamily;
      for (const auto &[cell, count] : cells)
        if (cell.kind == kind && cell.direction == direction)
          byType[cell.type] += count, byFamily[cell.family] += count;
      for (DataType type : typesOf(pass))
        os << std::setw(column) << byType[type];
      for (LayoutFamily family : allFamilies)
        os << std::setw(12) << byFamily[family];
      os << '\n';
    }
  for (Kind kind : allKinds) {
    printLabel(os, nameOf(kind));
    for (int options = 0; options < optionSets; ++options)
      os << ' ' << optionsText(options) << ' ' << countOf(std::string(nameOf(kind)), optionsText(options)) << ',';
    for (Feature feature : featuresOf(pass)) {
      auto found = features.find({kind, feature});
      os << ' ' << nameOf(feature) << ' ' << (found == features.end() ? 0 : found->second)
         << (feature == featuresOf(pass).back() ? "\n" : ",");
    }
  }
}

std::vector<std::string> Coverage::missingPairs() const {
  std::vector<std::string> missing;
  std::set<std::pair<std::string, std::string>> wanted;
  for (const Cell &cell : everyCell(pass)) {
    std::vector<std::string> properties = propertiesOf(cell);
    for (size_t i = 0; i < properties.size(); ++i)
      for (size_t j = i + 1; j < properties.size(); ++j)
        wanted.insert({properties[i], properties[j]});
  }
  for (const auto &pair : wanted)
    if (!pairs.contains(pair))
      missing.push_back(concat(pair.first, " with ", pair.second));
  for (Kind kind : allKinds)
    for (Feature feature : featuresOf(pass))
      if (mayHave(kind, feature) && !features.contains({kind, feature}))
        missing.push_back(concat(nameOf(kind), " with ", nameOf(feature)));
  return missing;
}

std::vector<std::string> Coverage::missingCells() const {
  int64_t missing = 0;
  for (const Cell &cell : everyCell(pass))
    missing += !cells.contains(cell);
  return missing ? std::vector<std::string>{concat(missing, " cells")} : std::vector<std::string>();
}

} // namespace quern::cases::rnn
