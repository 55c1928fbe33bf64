//===- Locations.cpp - Stages with the origin of each line ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line has the step of its first origin that has one.
//
//===----------------------------------------------------------------------===//
#include "Locations.h"

#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

namespace quern {
namespace {

using Steps = std::vector<std::string>; ///< step of each line, 0-based

const char *commentOf(const std::string &language) {
  return language == "asm" ? "# " : language == "mlir" ? "// " : "; ";
}

Steps stepsOf(const nlohmann::json &stage, const std::map<std::string, Steps> &known) {
  if (stage.contains("steps"))
    return stage["steps"].get<Steps>();
  Steps steps;
  if (!stage.contains("of"))
    return steps;
  const Steps &of = known.at(stage["of"].get<std::string>());
  for (const nlohmann::json &origins : stage["origins"]) {
    std::string &step = steps.emplace_back();
    for (const size_t line : origins)
      if (step.empty() && line >= 1 && line <= of.size())
        step = of[line - 1];
  }
  return steps;
}

/// Returns the origins of a 0-based line, such as "schedule:12,15 "; "" if it has none.
std::string placesOf(const nlohmann::json &stage, size_t line) {
  if (!stage.contains("of") || line >= stage["origins"].size() || stage["origins"][line].empty())
    return "";
  std::string places = stage["of"].get<std::string>() + ":";
  for (const int64_t origin : stage["origins"][line])
    places += std::to_string(origin) + ",";
  places.back() = ' ';
  return places;
}

} // namespace

std::map<std::string, std::string> locatedStages(const std::string &trace) {
  std::map<std::string, std::string> texts;
  std::map<std::string, Steps> known;
  const nlohmann::json data = nlohmann::json::parse(trace);
  for (const nlohmann::json &stage : data["stages"]) {
    const std::string name = stage["name"];
    const Steps &steps = known[name] = stepsOf(stage, known);
    std::string &text = texts[name];
    std::istringstream lines(stage["text"].get<std::string>());
    size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      std::string about = placesOf(stage, number) + (number < steps.size() ? steps[number] : "");
      if (about.ends_with(' '))
        about.pop_back();
      text += line + (about.empty() ? "" : "  " + (commentOf(stage["language"]) + about)) + "\n";
    }
  }
  return texts;
}

} // namespace quern
