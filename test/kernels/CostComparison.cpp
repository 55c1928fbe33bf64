//===- CostComparison.cpp - Increases of compilation costs ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Cost.h"
#include "Output.h"

#include <map>
#include <sstream>

namespace quern {
namespace {

/// Costs by unit and set.
using Costs = std::map<std::pair<std::string, std::string>, double>;

Result<Costs> readCosts(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  Costs costs;
  std::istringstream stream(*bytes);
  std::string unit, set;
  for (double cost = 0; stream >> unit >> set >> cost;)
    costs[{unit, set}] = cost;
  if (!stream.eof() || costs.empty())
    return invalidArguments(path, " has no costs, or something else beside them");
  return costs;
}

} // namespace

Result<bool> compareCosts(const std::string &before, const std::string &after, double percent, std::ostream &os) {
  Result<Costs> old = readCosts(before), now = readCosts(after);
  if (!old || !now)
    return old ? now.takeError() : old.takeError();
  Table table({"set", "unit", ">before", ">after", ">ratio", ""});
  bool isGood = true;
  for (const auto &[what, cost] : *old) {
    auto found = now->find(what);
    if (found == now->end() || cost <= 0)
      return invalidArguments(after, " has no ", what.first, " of ", what.second, " to compare");
    const double ratio = found->second / cost;
    const double limit = percent > 0 ? percent : what.first == "instructions" ? 1 : 10;
    const bool hasGrown = ratio > 1 + limit / 100;
    isGood &= !hasGrown;
    table.addRow({what.second, what.first, formatFixed(cost, 0), formatFixed(found->second, 0), formatFixed(ratio, 4),
                  hasGrown ? "grown" : ""});
  }
  if (now->size() > old->size())
    return invalidArguments(before, " has not all costs that ", after, " has");
  table.print(os);
  return isGood;
}

} // namespace quern
