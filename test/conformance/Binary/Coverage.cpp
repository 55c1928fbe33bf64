//===- Coverage.cpp - Coverage of binaries --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Binary/Coverage.h"

#include "Support/Error.h"

#include <iomanip>
#include <ostream>

namespace quern::cases::binary {
namespace {

/// Returns the values of each property, in the order of Properties.
std::array<std::vector<std::string>, std::tuple_size_v<Properties>> allValues() {
  std::array<std::vector<std::string>, std::tuple_size_v<Properties>> values;
  auto add = [&](const Cell &cell, const Types &types, std::initializer_list<size_t> positions) {
    const Properties properties = propertiesOf(cell, types);
    for (size_t position : positions)
      values[position].push_back(properties[position]);
  };
  for (int alg = 0; alg < algorithms; ++alg)
    add({static_cast<Alg>(static_cast<int>(Alg::BinaryAdd) + alg)}, {}, {0});
  for (DataType type : allTypes)
    add({}, {type, type, type}, {1, 2, 3});
  for (LayoutFamily family : allFamilies)
    add({Alg::BinaryAdd, family}, {}, {4});
  for (Broadcast broadcast : allBroadcasts)
    add({Alg::BinaryAdd, LayoutFamily::Plain, broadcast}, {}, {5});
  for (AttributeClass attribute : allAttributes)
    add({Alg::BinaryAdd, LayoutFamily::Plain, Broadcast::None, attribute}, {}, {6});
  return values;
}

/// Returns "binary_add" for "alg binary_add".
std::string withoutKind(const std::string &property) { return property.substr(property.find(' ') + 1); }

} // namespace

void Coverage::add(const Cell &cell, const Types &types, const BinaryDesc &sized) {
  const Properties properties = propertiesOf(cell, types);
  for (const std::string &a : properties)
    for (const std::string &b : properties)
      ++pairs[{a, b}];
  ++cells[cell];
  triples.insert(types);
  ++ranks[static_cast<size_t>(sized.dst.ndims) - 1];
  empty += sized.dst.hasZeroDim();
}

int64_t Coverage::countOf(const std::string &first, const std::string &second) const {
  auto found = pairs.find({first, second});
  return found == pairs.end() ? 0 : found->second;
}

void Coverage::print(std::ostream &os) const {
  const auto values = allValues();
  auto printTable = [&](const char *title, const std::vector<std::string> &columns, std::initializer_list<size_t> rows,
                        int width) {
    os << std::setw(20) << std::left << title << std::right;
    for (const std::string &column : columns)
      os << std::setw(width)
         << withoutKind(column).substr(column.starts_with("alg ") ? std::string_view("binary_").size() : 0);
    os << '\n';
    for (size_t row : rows)
      for (const std::string &property : values[row]) {
        os << std::setw(20) << std::left << property << std::right;
        for (const std::string &column : columns)
          os << std::setw(width) << (areCompatible(property, column) ? std::to_string(countOf(property, column)) : "-");
        os << '\n';
      }
  };
  printTable("problems", values[0], {1, 2, 3, 4, 5, 6}, 7);
  printTable("problems", values[4], {1, 2, 3, 5, 6}, 11);
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    os << "rank " << rank + 1 << ' ' << ranks[rank] << "; ";
  os << "without elements " << empty << "; cells " << cells.size() << " of " << allCells().size()
     << "; triples of types " << triples.size() << " of " << allTriples().size() << '\n';
}

std::vector<std::string> Coverage::missingPairs() const {
  std::vector<std::string> missing;
  const auto values = allValues();
  for (size_t first = 0; first < values.size(); ++first)
    for (size_t second = first + 1; second < values.size(); ++second)
      for (const std::string &a : values[first])
        for (const std::string &b : values[second])
          if (areCompatible(a, b) && countOf(a, b) == 0)
            missing.push_back(concat(a, ", ", b));
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
      missing.push_back(concat(quern::nameOf(cell.alg), ", ", quern::nameOf(cell.family), ", ", nameOf(cell.broadcast),
                               ", ", nameOf(cell.attribute)));
  if (triples.size() < allTriples().size())
    missing.push_back(concat(allTriples().size() - triples.size(), " triples of types"));
  return missing;
}

} // namespace quern::cases::binary
