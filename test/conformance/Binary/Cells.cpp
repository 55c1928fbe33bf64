//===- Cells.cpp - Coverage goals of binary -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For each problem of the first round, several random cells are drawn, and the one with the most unreached pairs of
// properties is chosen.
//
//===----------------------------------------------------------------------===//
#include "Binary/Cells.h"

#include "Desc/Types.h"
#include "Random.h"
#include "Support/Error.h"

#include <map>

namespace quern::cases::binary {
namespace {

class LeastReachedFirst {
public:
  /// Moves the best of several random candidates in cells[position, …) to `position`.
  void choose(Random &random, std::vector<Cell> &cells, size_t position, const Types &types) {
    constexpr int candidates = 24;
    size_t best = position;
    int64_t max = -1;
    for (int i = 0; i < candidates; ++i) {
      auto candidate =
          static_cast<size_t>(random.between(static_cast<int64_t>(position), static_cast<int64_t>(cells.size()) - 1));
      if (int64_t fresh = unreachedPairs(propertiesOf(cells[candidate], types)); fresh > max)
        best = candidate, max = fresh;
    }
    std::swap(cells[position], cells[best]);
    const Properties chosen = propertiesOf(cells[position], types);
    for (const std::string &a : chosen)
      for (const std::string &b : chosen)
        ++reached[{a, b}];
  }

private:
  int64_t unreachedPairs(const Properties &properties) const {
    int64_t count = 0;
    for (const std::string &a : properties)
      for (const std::string &b : properties)
        count += !reached.contains({a, b});
    return count;
  }

  std::map<std::pair<std::string, std::string>, int64_t> reached;
};

std::vector<Cell> makeCells() {
  std::vector<Cell> cells;
  for (int alg = 0; alg < algorithms; ++alg)
    for (LayoutFamily family : allFamilies)
      for (Broadcast broadcast : allBroadcasts)
        for (AttributeClass attribute : allAttributes)
          if (Cell cell{static_cast<Alg>(static_cast<int>(Alg::BinaryAdd) + alg), family, broadcast, attribute};
              exists(cell))
            cells.push_back(cell);
  Random random(3);
  random.shuffle(cells);
  LeastReachedFirst chooser;
  for (size_t i = 0; i < allTriples().size(); ++i)
    chooser.choose(random, cells, i, allTriples()[i]);
  return cells;
}

std::vector<Types> makeTriples() {
  std::vector<Types> triples;
  for (DataType src : allTypes)
    for (DataType src1 : allTypes)
      for (DataType dst : allTypes)
        triples.push_back({src, src1, dst});
  Random random(2);
  random.shuffle(triples);
  return triples;
}

} // namespace

std::string_view nameOf(Broadcast broadcast) {
  constexpr std::string_view names[] = {"none", "scalar", "channel", "some", "first", "both"};
  return names[static_cast<size_t>(broadcast)];
}

std::string_view nameOf(AttributeClass attribute) {
  constexpr std::string_view names[] = {"none", "scales", "sum", "eltwise", "binary", "mixed"};
  return names[static_cast<size_t>(attribute)];
}

/// An open dim is open in src, which therefore does not broadcast along it.
bool exists(const Cell &cell) {
  return cell.family != LayoutFamily::Runtime ||
         (cell.broadcast != Broadcast::First && cell.broadcast != Broadcast::Both);
}

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = makeCells();
  return cells;
}

const std::vector<Types> &allTriples() {
  static const std::vector<Types> triples = makeTriples();
  return triples;
}

Properties propertiesOf(const Cell &cell, const Types &types) {
  return {concat("alg ", quern::nameOf(cell.alg)),       concat("src ", quern::nameOf(types.src)),
          concat("src_1 ", quern::nameOf(types.src1)),   concat("dst ", quern::nameOf(types.dst)),
          concat("layout ", quern::nameOf(cell.family)), concat("broadcast ", nameOf(cell.broadcast)),
          concat("attribute ", nameOf(cell.attribute))};
}

bool areCompatible(const std::string &first, const std::string &second) {
  auto is = [&](std::string_view a, std::string_view b) {
    return (first == a && second == b) || (first == b && second == a);
  };
  return !is("layout runtime", "broadcast first") && !is("layout runtime", "broadcast both");
}

} // namespace quern::cases::binary
