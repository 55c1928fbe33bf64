//===- Model.cpp - Innermost loops on LLVM's processor models -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the trace of a compilation, which has the assembly, its innermost loops, and the loops of the schedule.
//
//===----------------------------------------------------------------------===//
#include "Model/Model.h"

#include "Api.h"
#include "Model/Products.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace quern::bench {

namespace {

using Json = nlohmann::json;

std::vector<std::string> linesOf(const Json &stage) {
  std::vector<std::string> lines;
  std::istringstream in(stage["text"].get<std::string>());
  for (std::string line; std::getline(in, line);)
    lines.push_back(std::move(line));
  return lines;
}

class ModelReader {
public:
  ModelReader(const Json &trace, const std::string &target, const std::vector<std::string> &processors)
      : emit(trace["stages"][0]), schedule(trace["stages"][1]), assembly(trace["stages"].back()),
        code(linesOf(assembly)), scheduled(linesOf(schedule)), target(target), processors(processors) {}

  std::vector<ModeledLoop> loops() const {
    std::vector<ModeledLoop> found;
    if (assembly.contains("innermost"))
      for (const Json &innermost : assembly["innermost"])
        found.push_back(loop(innermost));
    return found;
  }

private:
  /// Line numbers of the assembly are 1-based.
  ModeledLoop loop(const Json &innermost) const {
    const size_t first = innermost["first"], last = innermost["last"];
    ModeledLoop loop;
    std::vector<size_t> places; // positions of the loop's instructions
    for (size_t line = first; line <= last; ++line)
      if (assembly["offsets"][line - 1] >= 0)
        places.push_back(line);
    loop.instructions = places.size();
    loop.step = stepOf(places);
    for (const char *mark : {"spill", "reload"})
      for (const size_t line : assembly["marks"][mark])
        loop.spills += line >= first && line <= last;
    addSchedule(loop, places.back());
    for (const size_t place : places)
      if (const std::optional<ModelProduct> product = productOf(code[place - 1], target)) {
        loop.flops += product->flops;
        loop.multiply = product->instruction;
      }
    for (const Json &estimate : innermost["estimates"])
      addEstimate(loop, places, estimate);
    return loop;
  }

  void addEstimate(ModeledLoop &loop, const std::vector<size_t> &places, const Json &estimate) const {
    const std::string processor = estimate["machine"];
    if (std::find(processors.begin(), processors.end(), processor) == processors.end() || estimate.contains("whyNot"))
      return;
    loop.cycles[processor] = estimate["cycles"];
    double &busy = loop.busy[processor];
    for (size_t i = 0; i < places.size(); ++i)
      if (productOf(code[places[i] - 1], target))
        busy += estimate["costs"][i][1].get<double>();
  }

  std::string stepOf(const std::vector<size_t> &places) const {
    std::map<std::string, size_t> counts;
    for (const size_t place : places)
      for (const size_t line : assembly["origins"][place - 1])
        for (const size_t origin : schedule["origins"][line - 1])
          if (const std::string step = emit["steps"][origin - 1]; !step.empty()) {
            ++counts[step];
            break;
          }
    const auto maximum =
        std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) { return a.second < b.second; });
    return maximum == counts.end() ? "" : maximum->first;
  }

  /// Adds the loop of the schedule to which the backward jump belongs.
  void addSchedule(ModeledLoop &loop, size_t jump) const {
    const Json *node = nullptr, *kernel = nullptr;
    for (const size_t line : assembly["origins"][jump - 1])
      for (const Json &candidate : schedule["loops"])
        if (candidate["line"] <= line && candidate["last"] >= line)
          (candidate["depth"] == 0 ? kernel : node) = &candidate;
    if (!kernel)
      return;
    loop.kernel = (*kernel)["kernel"];
    if (!node)
      return;
    loop.line = (*node)["line"];
    loop.bytesRead = (*node)["bytesRead"];
    const std::string &declared = scheduled[(*kernel)["line"].get<size_t>() - 1];
    loop.isProduct = declared.find("plan = <contraction") != std::string::npos && node->contains("carried") &&
                     loop.bytesRead > 0 && (*node)["operations"] > 0;
  }

  const Json &emit, &schedule, &assembly;
  std::vector<std::string> code, scheduled;
  const std::string &target;
  const std::vector<std::string> &processors;
};

} // namespace

std::vector<ModeledLoop> modeledLoopsIn(const std::string &trace, const std::string &target,
                                        const std::vector<std::string> &processors) {
  const Json data = Json::parse(trace);
  return ModelReader(data, target, processors).loops();
}

std::vector<ModeledLoop> modeledLoopsOf(const std::string &line, const std::string &target,
                                        const std::vector<std::string> &processors) {
  return modeledLoopsIn(compileFor(line, target, quern_form_trace), target, processors);
}

} // namespace quern::bench
