//===- SourceCells.cpp - Coverage goals of sum and concat -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SourceCells.h"

#include "Support/Error.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>

namespace quern {
namespace {

std::string textOf(const SourceCell &cell) {
  return concat(nameOf(cell.from), "->", nameOf(cell.to), ", ", nameOf(cell.family), ", ", sourceCounts[cell.count].min,
                " to ", sourceCounts[cell.count].max, " sources");
}

} // namespace

std::string_view nameOf(SourceFamily family) {
  constexpr std::string_view names[] = {"plain",  "permuted", "gapped", "submemory", "blocked", "nested",
                                        "padded", "mixed",    "cut",    "broadcast", "chosen",  "runtime"};
  return names[static_cast<size_t>(family)];
}

/// The number of sources differs between neighboring cells, so that one round has all numbers with each type and
/// family.
SourceCell SourceCells::at(int64_t number) const {
  constexpr auto types = static_cast<int64_t>(std::size(sourceTypes)),
                 counts = static_cast<int64_t>(std::size(sourceCounts));
  const int64_t round = number / firstRound() % counts, place = number % firstRound();
  const int64_t from = place % types, to = place / types % types, family = place / types / types;
  return {sourceTypes[from], sourceTypes[to], families[static_cast<size_t>(family)],
          static_cast<int>((from + to + family + round) % counts)};
}

void SourceCells::count(int64_t number, bool isEmpty) {
  ++counts[at(number)];
  empty += isEmpty;
}

void SourceCells::print(std::ostream &os) const {
  os << std::setw(12) << std::left << "sources" << std::right;
  for (SourceFamily family : families)
    os << std::setw(11) << nameOf(family);
  os << '\n';
  for (int count = 0; count < static_cast<int>(std::size(sourceCounts)); ++count) {
    os << std::setw(12) << std::left << concat(sourceCounts[count].min, " to ", sourceCounts[count].max) << std::right;
    for (SourceFamily family : families) {
      int64_t sum = 0;
      for (const auto &[cell, number] : counts)
        sum += cell.family == family && cell.count == count ? number : 0;
      os << std::setw(11) << sum;
    }
    os << '\n';
  }
  os << "without elements: " << empty << '\n';
}

std::vector<std::string> SourceCells::missing(int64_t cases) const {
  std::vector<std::string> lines;
  for (int64_t number = 0; number < std::min(cases / firstRound() * firstRound(), allRounds()); ++number)
    if (!counts.contains(at(number)))
      lines.push_back(textOf(at(number)));
  return lines;
}

std::vector<DataType> drawTypes(Random &random, const SourceCell &cell) {
  const CountRange range = sourceCounts[cell.count];
  std::vector<DataType> types(static_cast<size_t>(random.between(range.min, range.max)), cell.from);
  const bool isMixed = random.oneIn(3), hasOnlyIntegers = !isFloating(cell.from) && random.oneIn(2);
  for (size_t i = 1; i < types.size() && isMixed; ++i)
    types[i] = hasOnlyIntegers ? random.pick({DataType::S32, DataType::S8, DataType::U8})
                               : sourceTypes[random.between(0, static_cast<int64_t>(std::size(sourceTypes)) - 1)];
  return types;
}

Dims drawSourceShape(Random &random, int64_t elements) {
  Dims dims(static_cast<size_t>(random.between(1, random.oneIn(4) ? 6 : 4)), 1);
  auto budget = static_cast<double>(elements);
  for (size_t left = dims.size(); int64_t &dim : dims) {
    const double share = std::pow(budget, 1.0 / static_cast<double>(random.between(1, static_cast<int64_t>(left--))));
    dim = drawExtent(random, static_cast<int64_t>(std::min(budget, 1.5 * share)));
    budget /= static_cast<double>(dim);
  }
  return dims;
}

TensorDesc drawSourceLayout(Random &random, SourceFamily family, const Dims &dims, DataType type) {
  const int dim = drawDim(random, dims), other = drawDim(random, dims);
  switch (family) {
  case SourceFamily::Permuted:
    return drawPlain(random, dims, type, {true, false, false});
  case SourceFamily::Gapped:
    return drawPlain(random, dims, type, {random.oneIn(2), true, false});
  case SourceFamily::Submemory:
    return drawSubmemory(random, dims, type, random.oneIn(2) ? Blocks{} : Blocks{{dim, drawBlock(random)}});
  case SourceFamily::Nested:
    return drawBlocked(random, dims, type, drawSeveralBlocks(random, dim, other));
  case SourceFamily::Padded:
    return drawPadded(random, dims, type);
  case SourceFamily::Broadcast:
    return drawPlain(random, dims, type, {random.oneIn(3), false, true});
  case SourceFamily::Blocked:
    return drawBlocked(random, dims, type, {{dim, drawBlock(random)}});
  case SourceFamily::Mixed:
    return drawOperand(random, dims, type);
  default:
    return drawPlain(random, dims, type, {});
  }
}

} // namespace quern
