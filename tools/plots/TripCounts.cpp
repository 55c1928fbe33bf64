//===- TripCounts.cpp - Trip counts of the loops of a trace -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TripCounts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace quern {
namespace {

using Json = nlohmann::json;

std::optional<double> numberIn(const std::string &text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Returns the number of iterations of each kernel in an execution, without kernels for which it is unknown.
std::map<std::string, double> iterationsOf(const Json &program) {
  std::map<std::string, double> all;
  std::map<std::string, bool> isOpen;
  for (size_t at = 0; at < program["steps"].size(); ++at) {
    const Json &step = program["steps"][at];
    std::optional<double> count = numberIn(step["iterations"]);
    for (const Json &loop : program["loops"])
      if (loop["first"] <= at && at < loop["end"]) {
        const std::optional<double> trips = numberIn(loop["trips"]);
        count = count && trips ? std::optional(*count * *trips) : std::nullopt;
      }
    const std::string kernel = step["kernel"];
    all[kernel] += count.value_or(0);
    isOpen[kernel] |= !count;
  }
  std::erase_if(all, [&](const auto &entry) { return isOpen[entry.first]; });
  return all;
}

/// Returns the number of iterations of each loop of the schedule in an execution; -1 if unknown.
std::vector<double> tripCountsIn(const Json &loops, const std::map<std::string, double> &iterations) {
  std::vector<double> tripCounts;
  std::vector<size_t> around; // enclosing loops, by depth
  double kernelIterations = -1;
  for (size_t at = 0; at < loops.size(); ++at) {
    const Json &loop = loops[at];
    const size_t depth = loop["depth"];
    around.resize(depth);
    double tripCount = -1;
    if (loop.contains("kernel")) {
      auto found = iterations.find(loop["kernel"]);
      kernelIterations = found == iterations.end() ? -1 : found->second;
      tripCount = kernelIterations < 0 ? -1 : kernelIterations / std::max(1.0, loop["space"].get<double>());
    } else if (loop.contains("ofSpace")) {
      tripCount = kernelIterations < 0 ? -1 : kernelIterations / loop["ofSpace"].get<double>();
    } else if ((loop.contains("trips") || loop.contains("meanTrips")) && tripCounts[around.back()] >= 0) {
      tripCount = tripCounts[around.back()] * loop[loop.contains("trips") ? "trips" : "meanTrips"].get<double>();
    }
    tripCounts.push_back(tripCount);
    around.push_back(at);
  }
  return tripCounts;
}

const Json *loopsOf(const Json &trace) {
  for (const Json &stage : trace["stages"])
    if (stage.contains("loops"))
      return &stage["loops"];
  return nullptr;
}

} // namespace

std::vector<double> tripCountsOf(const Json &trace) {
  const Json *loops = loopsOf(trace);
  return loops ? tripCountsIn(*loops, iterationsOf(trace["program"])) : std::vector<double>();
}

std::optional<double> flopsOf(const Json &trace) {
  const std::vector<double> tripCounts = tripCountsOf(trace);
  double flops = 0;
  for (size_t at = 0; at < tripCounts.size(); ++at) {
    const double flopsOfIteration = (*loopsOf(trace))[at]["flops"];
    if (tripCounts[at] < 0 && flopsOfIteration > 0)
      return std::nullopt;
    flops += tripCounts[at] * flopsOfIteration;
  }
  return flops;
}

} // namespace quern
