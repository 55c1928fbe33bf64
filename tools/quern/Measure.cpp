//===- Measure.cpp - Measurements of a traced kernel ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sample is an address. The trace maps it to an instruction, the instruction to a line of the schedule, and the line
// to a loop. The number of iterations of a loop follows from the launch program, unless sizes are open.
//
//===----------------------------------------------------------------------===//
#include "Measure.h"

#include "ProblemData.h"
#include "Roofs.h"
#include "Sampler.h"
#include "Timing.h"
#include "TripCounts.h"

#include <fstream>
#include <sstream>

namespace quern {
namespace {

constexpr int64_t memoryBytes = int64_t(256) << 20; ///< bytes of a copy that no cache can hold
constexpr double seconds = 0.3;

nlohmann::json &stageOf(nlohmann::json &trace, const char *name) {
  for (nlohmann::json &stage : trace["stages"])
    if (stage["name"] == name)
      return stage;
  return trace["stages"].back();
}

/// Returns the index of the innermost loop around a line of the schedule.
std::optional<size_t> loopAround(const nlohmann::json &loops, int64_t line) {
  std::optional<size_t> found;
  for (size_t at = 0; at < loops.size(); ++at)
    if (loops[at]["line"] <= line && line <= loops[at]["last"])
      found = at; // inner loops come later
  return found;
}

/// Maps addresses to lines of the assembly. The code is contiguous in memory, so the first entry point determines all
/// addresses.
class Places {
public:
  Places(const nlohmann::json &assembly, const nlohmann::json &program, const std::vector<const char *> &entries) {
    std::istringstream text(assembly["text"].get<std::string>());
    std::string label, first;
    for (const nlohmann::json &step : program["steps"])
      if (first.empty())
        first = step["kernel"];
    int64_t begin = -1, number = 0;
    for (std::string line; std::getline(text, line); ++number) {
      const int64_t offset = assembly["offsets"][static_cast<size_t>(number)];
      if (line == first + ":")
        label = first;
      if (offset < 0)
        continue;
      if (begin < 0 && !label.empty())
        begin = offset;
      lines[static_cast<uint64_t>(offset)] = number + 1;
    }
    if (!entries.empty() && begin >= 0)
      base = reinterpret_cast<uint64_t>(entries.front()) - static_cast<uint64_t>(begin);
  }

  /// Returns the 1-based line of the instruction at an address; 0 for other code.
  int64_t lineAt(uint64_t address) const {
    constexpr uint64_t longest = 15; // bytes of the longest instruction
    if (lines.empty() || !base || address < base || address - base > lines.rbegin()->first + longest)
      return 0;
    auto next = lines.upper_bound(address - base);
    return next == lines.begin() ? 0 : std::prev(next)->second;
  }

private:
  std::map<uint64_t, int64_t> lines;
  uint64_t base = 0;
};

struct Samples {
  std::string event, whyNot;
  std::map<int64_t, int64_t> ofLine;
  int64_t inside = 0, all = 0;
};

Result<Samples> sample(const Kernel &kernel, const Places &places) {
  Samples samples;
  Result<Sampler> sampler = Sampler::open();
  if (!sampler) {
    samples.whyNot = sampler.error().message;
    return samples;
  }
  samples.event = sampler->event();
  std::vector<uint64_t> addresses;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 2 * seconds) {
    sampler->start();
    const auto start = std::chrono::steady_clock::now();
    do {
      QUERN_RETURN_IF_ERROR(kernel.execute());
    } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds / 4);
    sampler->stop();
    sampler->take(addresses);
  }
  for (const uint64_t address : addresses) {
    const int64_t line = places.lineAt(address);
    ++samples.all;
    samples.inside += line > 0;
    if (line > 0)
      ++samples.ofLine[line];
  }
  return samples;
}

nlohmann::json asJson(const Samples &samples) {
  if (!samples.whyNot.empty())
    return {{"whyNot", samples.whyNot}};
  nlohmann::json lines = nlohmann::json::array();
  for (const auto &[line, count] : samples.ofLine)
    lines.push_back({line, count});
  return {{"event", samples.event}, {"inside", samples.inside}, {"all", samples.all}, {"lines", lines}};
}

/// Returns the loops with their own arithmetic or memory accesses: bytes and flops in an execution if they are known,
/// and the time according to the samples.
nlohmann::json sweepsOf(const nlohmann::json &schedule, const nlohmann::json &assembly,
                        const std::vector<double> &tripCounts, const Samples &samples, double ns) {
  const nlohmann::json &loops = schedule["loops"];
  std::vector<double> share(loops.size());
  for (const auto &[line, count] : samples.ofLine)
    for (const nlohmann::json &origin : assembly["origins"][static_cast<size_t>(line - 1)])
      if (std::optional<size_t> loop = loopAround(loops, origin))
        share[*loop] += static_cast<double>(count) / static_cast<double>(std::max<int64_t>(samples.inside, 1));
  nlohmann::json sweeps = nlohmann::json::array();
  for (size_t at = 0; at < loops.size(); ++at) {
    const double bytes = loops[at]["bytesRead"].get<double>() + loops[at]["bytesWritten"].get<double>();
    const double flops = loops[at]["flops"];
    if (bytes + flops == 0)
      continue;
    nlohmann::json sweep = {{"line", loops[at]["line"]}};
    if (tripCounts[at] >= 0)
      sweep.update(
          {{"tripCount", tripCounts[at]}, {"bytes", bytes * tripCounts[at]}, {"flops", flops * tripCounts[at]}});
    if (samples.inside)
      sweep["ns"] = share[at] * ns;
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

Result<Kernel> kernelOf(const Device &device, const ParsedProblem &problem) {
  QUERN_ASSIGN_OR_RETURN(std::string artifact, compileTo(problem.text, problem.target.text(), quern_form_artifact));
  return Kernel::createFrom(device, problem.text, artifact);
}

/// Returns the operating system's name for the processor.
std::string modelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  return "an unknown processor";
}

} // namespace

std::string processorName() {
#ifdef __x86_64__
  __builtin_cpu_init();
#define QUERN_PROCESSOR(name)                                                                                          \
  if (__builtin_cpu_is(name))                                                                                          \
    return name;
  QUERN_PROCESSOR("znver4")
  QUERN_PROCESSOR("znver2")
  QUERN_PROCESSOR("sapphirerapids")
  QUERN_PROCESSOR("icelake-server")
  QUERN_PROCESSOR("skylake-avx512")
  QUERN_PROCESSOR("alderlake")
  QUERN_PROCESSOR("haswell")
#undef QUERN_PROCESSOR
#endif
  return "";
}

Result<void> measureInto(nlohmann::json &trace, const ParsedProblem &problem) {
  if (!problem.target.isCpu())
    return unimplemented("--measure: target '", problem.target.text(), "' is a device's; only the CPU is measured");
  QUERN_ASSIGN_OR_RETURN(Device device, Device::open(quern_cpu));
  QUERN_RETURN_IF_ERROR(checked(quern_set_num_threads(1)));
  QUERN_ASSIGN_OR_RETURN(Kernel kernel, kernelOf(device, problem));
  QUERN_ASSIGN_OR_RETURN(ProblemData data, ProblemData::create(problem, {.isTimed = true}));
  QUERN_RETURN_IF_ERROR(data.addScratchpad(kernel));
  QUERN_RETURN_IF_ERROR(kernel.bind(data.buffers()));
  QUERN_RETURN_IF_ERROR(kernel.execute());
  Timing timing;
  QUERN_RETURN_IF_ERROR(measure([&] { return kernel.execute(); }, 10, seconds, timing));
  QUERN_ASSIGN_OR_RETURN(std::vector<const char *> entries, kernel.entries());
  const nlohmann::json &assembly = stageOf(trace, "assembly"), &schedule = stageOf(trace, "schedule");
  Result<Samples> samples = Samples();
  if (assembly.contains("offsets"))
    samples = sample(kernel, Places(assembly, trace["program"], entries));
  if (!samples)
    return samples.takeError();
  const std::vector<double> tripCounts = tripCountsOf(trace);
  const std::optional<double> flops = flopsOf(trace);
  trace["measured"] = {{"processor", modelName()},
                       {"threads", 1},
                       {"minNs", timing.minNs},
                       {"medianNs", timing.medianNs},
                       {"runs", timing.runs},
                       {"bytes", problem.bytesMoved()},
                       {"flops", flops ? nlohmann::json(*flops) : nlohmann::json()},
                       {"peakGflops", peakGflops()},
                       {"copyGbPerS", copyGbPerS(problem.bytesMoved())},
                       {"memoryGbPerS", copyGbPerS(memoryBytes)},
                       {"samples", asJson(*samples)},
                       {"sweeps", sweepsOf(schedule, assembly, tripCounts, *samples, timing.minNs)}};
  return {};
}

} // namespace quern
