//===- Processes.cpp - Time from process start to first result ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Processes.h"

#include "Api.h"
#include "Child.h"
#include "Streams.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace quern::bench {

namespace {

constexpr int processRuns = 31;

/// Report of a process when it has its first result.
struct ProcessReport {
  bool hasCompiler = false; ///< true if the compiler library is mapped
  double privateKib = 0;
  int origin = 0;
};

ProcessReport parseReport(const std::string &reply) {
  std::istringstream in(reply);
  std::string word;
  ProcessReport report;
  if (in >> word; word != "ok")
    throw std::runtime_error(reply);
  in >> report.hasCompiler >> report.privateKib >> report.origin;
  return report;
}

using Environment = std::map<std::string, std::string>;

Samples timeProcesses(const std::string &what, Environment environment, int cpu,
                      const std::function<void(const ProcessReport &)> &look = nullptr) {
  environment["QUERN_NUM_THREADS"] = "1";
  Samples samples;
  for (int run = 0; run < processRuns; ++run) {
    std::unique_ptr<Child> child; // its end is not part of the time
    std::string reply;
    samples.push_back(elapsedNs([&] {
      child = std::make_unique<Child>(std::vector<std::string>{"/proc/self/exe", "--serve=" + what},
                                      std::vector<int>{cpu}, environment);
      reply = child->readLine();
    }));
    const ProcessReport report = parseReport(reply);
    if (look)
      look(report);
  }
  return samples;
}

bool hasCompiler() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libLLVM") != std::string::npos || line.find("libquern-compiler") != std::string::npos)
      return true;
  return false;
}

long privateKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:"))
      return std::stol(line.substr(line.find(':') + 1));
  return 0;
}

} // namespace

ProcessStarts measureProcessStarts(const std::string &cacheFolder, int cpu) {
  ProcessStarts starts;
  const std::string packs = builtFamilies();
  Samples ofDisk;
  starts.uncached = timeProcesses("first-result", {{"QUERN_CACHE_DIR", "off"}}, cpu);
  starts.onDisk = timeProcesses("first-result", {{"QUERN_CACHE_DIR", cacheFolder}}, cpu,
                                [&](const ProcessReport &report) { ofDisk.push_back(report.privateKib); });
  const auto requireFamily = [&](const ProcessReport &report) {
    if (report.origin != quern_origin_family)
      throw std::runtime_error("the first result is not from a family: origin " + std::to_string(report.origin));
    if (report.hasCompiler)
      throw std::runtime_error("the compiler was mapped before the first result");
  };
  starts.families = timeProcesses("first-result", {{"QUERN_CACHE_DIR", "off"}, {"QUERN_PACKS", packs}}, cpu,
                                  [&](const ProcessReport &report) {
                                    requireFamily(report);
                                    starts.familiesKib.push_back(report.privateKib);
                                  });
  const double minOnDisk = *std::min_element(ofDisk.begin(), ofDisk.end());
  for (double &sample : starts.familiesKib)
    sample -= minOnDisk;
  starts.nothing = timeProcesses("nothing", {{"QUERN_CACHE_DIR", "off"}}, cpu);
  return starts;
}

int serveFirstResult() {
  try {
    const Engine engine = createEngine();
    const Stream stream = createStream(engine);
    const PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
    const Primitive primitive = createPrimitive(desc);
    const const_quern_memory_desc_t md = quern_primitive_desc_query_md(desc.get(), quern_query_src_md, 0);
    quern_memory_t memory = nullptr;
    check(quern_memory_create(&memory, md, engine.get(), QUERN_MEMORY_ALLOCATE));
    const Memory owner(memory);
    const quern_exec_arg_t arguments[] = {{QUERN_ARG_SRC, memory}, {QUERN_ARG_DST, memory}};
    check(quern_primitive_execute(primitive.get(), stream.get(), 2, arguments));
    quern_primitive_info_t info{};
    check(quern_primitive_get_info(primitive.get(), &info));
    std::printf("ok %d %ld %d\n", hasCompiler(), privateKib(), info.origin);
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
  std::fflush(stdout);
  return 0;
}

int serveNothing() {
  std::puts("ok 0 0 0");
  std::fflush(stdout);
  return 0;
}

} // namespace quern::bench
