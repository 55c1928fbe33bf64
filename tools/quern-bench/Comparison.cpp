//===- Comparison.cpp - Comparison of contestants -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Starts each contestant, chooses the number of calls per sample, and alternates between them.
//
//===----------------------------------------------------------------------===//
#include "Comparison.h"

#include "Child.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace quern::bench {

namespace {

/// Minimum duration of a sample, long enough that the clock's resolution does not matter.
constexpr double sampleNs = 20000;
/// Time of a call in ns above which a problem is run only `slowRuns` times.
constexpr double slowNs = 100e6;
constexpr int slowRuns = 5;

void setRuntime(Start &start, const Settings &settings, const std::string &home) {
  start.environment["LD_LIBRARY_PATH"] = home + "/lib"; // for its TBB, which is newer than Quern's
  start.environment["CL_CONFIG_CPU_TBB_NUM_WORKERS"] = std::to_string(settings.threads);
}

/// If plain OpenCL kernels are compared, Quern's device uses their runtime, under the Level Zero driver of the tests.
void useTestDriver(Start &start, const Settings &settings) {
  if (std::find(settings.peers.begin(), settings.peers.end(), openClName) == settings.peers.end())
    return;
  const std::string home = settings.peersFolder + "/" + openClName;
  setRuntime(start, settings, home);
  start.environment["ZE_ENABLE_ALT_DRIVERS"] = settings.levelZeroDriver;
  start.environment["ZE_OPENCL_LIBRARY"] = home + "/lib/libintelocl.so";
}

} // namespace

Start startOf(const std::string &name, const Settings &settings) {
  std::string threads = std::to_string(settings.threads), home = settings.peersFolder + "/" + name;
  std::vector<std::string> self = {"/proc/self/exe", "--threads=" + threads,
                                   settings.onDevice ? "--engine=gpu" : "--engine=cpu"};
  Start start;
  start.environment = {{"OMP_NUM_THREADS", threads},
                       {"OMP_PROC_BIND", "true"},
                       {"DPCPP_CPU_NUM_CUS", threads},
                       {"QUERN_NUM_THREADS", threads}};
  if (name == quernName || name == copyName || name == baselineName || name == primitiveName || name == familyName) {
    self.push_back("--serve=" + (name == baselineName ? quernName : name));
    if (name == baselineName) {
      self.front() = settings.baseline;
      // Its library is next to it, wherever the build was moved.
      start.environment["LD_LIBRARY_PATH"] = std::filesystem::path(settings.baseline).parent_path() / "../lib";
    }
    start.command = self;
    start.environment["QUERN_TIERS"] = name == familyName ? "family" : "specialized";
    if (settings.onDevice)
      useTestDriver(start, settings);
  } else if (name.starts_with("onednn-")) {
    self.insert(self.end(), {"--serve=onednn", "--library=" + home + "/lib/libdnnl.so.3"});
    start.command = self;
    start.environment["LD_LIBRARY_PATH"] = home + "/lib";
    // The SYCL runtime finds its CPU device through the OpenCL loader, to which this variable gives the driver.
    start.environment["OCL_ICD_FILENAMES"] = home + "/lib/libintelocl.so";
  } else if (name == openClName) {
    self.insert(self.end(), {"--serve=opencl", "--library=" + home + "/lib/libintelocl.so"});
    start.command = self;
    setRuntime(start, settings, home);
  } else {
    start.command = {home + "/bin/python", settings.driversFolder + "/" + name + "_driver.py", threads};
    // They allocate their results in each call. Memory that is freed and mapped again would be cleared each time.
    start.environment.insert(
        {{"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "1000000000000"}, {"MALLOC_ARENA_MAX", "1"}});
  }
  return start;
}

std::vector<double> parseTimes(const std::string &reply) {
  std::istringstream in(reply);
  std::string word;
  in >> word;
  if (word != "ns")
    throw std::runtime_error(reply);
  std::vector<double> times;
  for (double value; in >> value;)
    times.push_back(value);
  return times;
}

double Measurement::minimum() const { return *std::min_element(ns.begin(), ns.end()); }

double Measurement::median() const {
  std::vector<double> sorted = ns;
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Comparison::Comparison(const Settings &settings) : settings(settings), order({quernName}) {
  order.insert(order.end(), settings.peers.begin(), settings.peers.end());
  if (!settings.onDevice)
    order.push_back(copyName);
  for (const std::string &name : order) {
    Start start = startOf(name, settings);
    try {
      children[name] = std::make_unique<Child>(start.command, settings.cpus, start.environment);
      ask(name, "hello"); // a process that runs refuses this request
    } catch (const std::exception &error) {
      throw std::runtime_error(name + " does not start (" + error.what() + "); tools/peers.sh " + name +
                               " installs a peer");
    }
  }
}

Comparison::~Comparison() = default;

std::string Comparison::ask(const std::string &name, const std::string &request) {
  Child &child = *children.at(name);
  child.resume();
  std::string reply = child.ask(request);
  child.suspend();
  return reply;
}

Measurement Comparison::prepare(const std::string &name, const BenchProblem &problem) {
  std::string reply = ask(name, problem.encode());
  std::string rest = reply.substr(std::min<size_t>(3, reply.size()));
  return reply.starts_with("ok") ? Measurement{{}, "", rest} : Measurement{{}, rest, ""};
}

bool Comparison::sameBits() {
  std::string first = ask(quernName, "bits 1");
  for (int threads : {2, 3, 5, 8})
    if (ask(quernName, "bits " + std::to_string(threads)) != first)
      return false;
  return true;
}

Row Comparison::measure(const BenchProblem &problem) {
  Row row;
  row.problem = problem;
  struct ComparisonPlan {
    int64_t calls;
    int samples;
  };
  std::map<std::string, ComparisonPlan> plans;
  for (const std::string &name : order) {
    Measurement &result = row.results[name] = prepare(name, problem);
    if (!result.refusal.empty())
      continue;
    double once = parseTimes(ask(name, "run 1 1")).front();
    int runs = once > slowNs ? slowRuns : settings.runs;
    plans[name] = {std::clamp<int64_t>(std::llround(std::ceil(sampleNs / once)), 1, 1000),
                   (runs + rounds - 1) / rounds};
  }
  for (int round = 0; round < rounds; ++round)
    for (const auto &[name, plan] : plans) {
      std::string request = "run " + std::to_string(plan.samples) + " " + std::to_string(plan.calls);
      std::vector<double> times = parseTimes(ask(name, request));
      row.results[name].ns.insert(row.results[name].ns.end(), times.begin(), times.end());
    }
  if (row.results[quernName].done() && !settings.onDevice)
    row.sameBits = sameBits();
  return row;
}

} // namespace quern::bench
