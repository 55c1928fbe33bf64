//===- Cases.cpp - Cases of each primitive --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"

namespace quern {

bool isSameValue(double ours, double theirs) { return ours == theirs || (std::isnan(ours) && std::isnan(theirs)); }

void drawData(Random &random, DataOptions &data) {
  data.fill = random.pick({FillKind::Dense, FillKind::Dense, FillKind::Designed, FillKind::Special});
  data.seed = random.bits() % 1000000;
  data.misalignment = random.oneIn(3) ? random.between(1, 15) : 0;
}

std::string drawMistake(const PrimitiveCases &cases, uint64_t seed, int64_t number) {
  Random random(seed * 7919 + static_cast<uint64_t>(number));
  std::span<const Mistake> all = cases.mistakes();
  std::span<const DataType> types = cases.refusedTypes();
  std::string line, n = std::to_string(random.between(2, 9)), m = std::to_string(random.between(2, 9));
  for (const char *c = all[static_cast<size_t>(number) % all.size()].line; *c; ++c) {
    if (*c != '@' || !c[1] || std::string_view("nmbt").find(c[1]) == std::string_view::npos) {
      line += *c;
      continue;
    }
    switch (*++c) {
    case 'n':
      line += n;
      break;
    case 'm':
      line += m;
      break;
    case 'b':
      line += std::to_string(random.between(2, 100));
      break;
    default:
      line += nameOf(types[static_cast<size_t>(random.between(0, static_cast<int64_t>(types.size()) - 1))]);
    }
  }
  return line;
}

std::string drawDamagedLine(const PrimitiveCases &cases, uint64_t seed, int64_t number) {
  Random random(seed * 104729 + static_cast<uint64_t>(number));
  std::string line = cases.draw(seed, random.between(0, 1000)).desc.text();
  for (int64_t edits = random.between(1, 4); edits > 0 && !line.empty(); --edits) {
    size_t at = static_cast<size_t>(random.between(0, static_cast<int64_t>(line.size()) - 1));
    switch (random.between(0, 3)) {
    case 0:
      line.erase(at, static_cast<size_t>(random.between(1, 3)));
      break;
    case 1:
      line.insert(at, 1, static_cast<char>(random.between(32, 126)));
      break;
    case 2:
      line[at] = static_cast<char>(random.between(1, 255));
      break;
    default:
      line.insert(at, line.substr(static_cast<size_t>(random.between(0, static_cast<int64_t>(line.size()) - 1)), 5));
    }
  }
  return line;
}

} // namespace quern
