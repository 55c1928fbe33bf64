//===- Cells.cpp - Coverage goals of reorder ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reorder/Cells.h"

#include "Random.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace quern::cases::reorder {
namespace {

/// A pair of types with a family, and the attributes that are possible with them.
struct Group {
  Cell cell;
  std::vector<AttributeClass> attributes;
};

/// Chooses the attributes of the first round so that each class, even a rare one, is combined with each family and each
/// type.
class RarestFirst {
public:
  void bringToFront(Group &group) {
    auto best =
        std::min_element(group.attributes.begin(), group.attributes.end(),
                         [&](AttributeClass a, AttributeClass b) { return uses(group.cell, a) < uses(group.cell, b); });
    ++withFamily[{group.cell.family, *best}], ++withFrom[{group.cell.from, *best}], ++withTo[{group.cell.to, *best}];
    std::rotate(group.attributes.begin(), best, group.attributes.end());
  }

private:
  /// Returns the minimum count with any single property, then the sum of counts.
  std::pair<int64_t, int64_t> uses(const Cell &cell, AttributeClass attribute) {
    int64_t family = withFamily[{cell.family, attribute}], from = withFrom[{cell.from, attribute}],
            to = withTo[{cell.to, attribute}];
    return {std::min({family, from, to}), family + from + to};
  }

  std::map<std::pair<LayoutFamily, AttributeClass>, int64_t> withFamily;
  std::map<std::pair<DataType, AttributeClass>, int64_t> withFrom, withTo;
};

std::vector<Cell> makeCells() {
  std::vector<Group> groups;
  for (DataType from : allTypes)
    for (DataType to : allTypes)
      for (LayoutFamily family : allFamilies) {
        Group group{{from, to, family}, {}};
        for (AttributeClass attribute : allAttributes)
          if (exists({from, to, family, attribute}))
            group.attributes.push_back(attribute);
        if (!group.attributes.empty())
          groups.push_back(group);
      }
  Random random(1);
  random.shuffle(groups);
  RarestFirst rarest;
  for (Group &group : groups)
    rarest.bringToFront(group);
  std::vector<Cell> cells;
  for (size_t round = 0; round < std::size(allAttributes); ++round)
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::vector<AttributeClass> &attributes = groups[i].attributes;
      Cell cell = groups[i].cell;
      cell.attribute = attributes[round % attributes.size()];
      if (round < attributes.size())
        cells.push_back(cell);
    }
  return cells;
}

} // namespace

std::string_view nameOf(AttributeClass attribute) {
  constexpr std::string_view names[] = {"none",   "scales", "zero points",  "groups",   "sum",        "eltwise",
                                        "binary", "mixed",  "compensation", "rnn data", "rnn weights"};
  return names[static_cast<size_t>(attribute)];
}

bool exists(const Cell &cell) {
  bool isOpen = cell.family == LayoutFamily::Runtime;
  if (isOpen && (bitsOf(cell.from) < 8 || bitsOf(cell.to) < 8))
    return false;
  switch (cell.attribute) {
  case AttributeClass::ZeroPoints:
    return !isFloating(cell.from) || !isFloating(cell.to);
  case AttributeClass::Compensation:
    return cell.to == DataType::S8 && !isOpen;
  case AttributeClass::RnnData:
    return isFloating(cell.from) && (cell.to == DataType::S8 || cell.to == DataType::U8);
  case AttributeClass::RnnWeights:
    return (isFloating(cell.from) || cell.from == DataType::S8) && cell.to == DataType::S8 && !isOpen;
  default:
    return true;
  }
}

int64_t cellsOfFirstRound() {
  std::set<std::tuple<DataType, DataType, LayoutFamily>> groups;
  for (const Cell &cell : allCells())
    groups.insert({cell.from, cell.to, cell.family});
  return static_cast<int64_t>(groups.size());
}

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = makeCells();
  return cells;
}

} // namespace quern::cases::reorder
