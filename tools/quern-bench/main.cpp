//===- main.cpp - quern-bench: compares Quern with peers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The command line. The program starts itself with `--serve` for contestants written in C++.
//
//===----------------------------------------------------------------------===//
#include "Api.h"
#include "Calls.h"
#include "Child.h"
#include "Comparison.h"
#include "Contestants/Contestant.h"
#include "Model/Model.h"
#include "Overheads.h"
#include "Plot.h"
#include "Processes.h"
#include "Report.h"
#include "StandardStreams.h"
#include "Streams.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace quern::bench;

namespace {

struct Options {
  std::vector<int> threads = {1};
  std::vector<int> cpus = availableCpus();
  std::vector<std::string> peers; ///< empty: not given
  std::vector<std::string> problems = {QUERN_BENCH_ROOT "/test/problems/softmax-bench.desc",
                                       QUERN_BENCH_ROOT "/test/problems/reorder-bench.desc",
                                       QUERN_BENCH_ROOT "/test/problems/sources-bench.desc"};
  std::string peersFolder = QUERN_BENCH_ROOT "/build/peers";
  std::string filter, json, plot, roofline, serveAs, library, baseline;
  int runs = 40;
  bool onDevice = false;
  int streamCalls = 20000;
  bool overheads = false, calls = false, streams = false;
  std::vector<std::string> processors,
      targets = {"neon", "neon_dotprod", "neon_bf16", "sve:vl=256", "sve_bf16:vl=256", "sve_bf16:vl=128"};
};

void declare(CLI::App &app, Options &options) {
  app.add_option("--threads", options.threads, "Numbers of threads, each for a separate comparison (default: 1)")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  std::vector<std::string> peers = peerNames;
  peers.push_back("none");
  app.add_option(
         "--peers", options.peers,
         "Peers that tools/peers.sh installed (default: onednn-3.13,onednn-3.2; for a device intel-opencl); primitive, "
         "Quern's primitive for a function in MLIR; family, the kernel of the problem's family; or none")
      ->delimiter(',')
      ->check(CLI::IsMember(peers));
  app.add_option_function<std::string>(
         "--engine", [&](const std::string &engine) { options.onDevice = engine == "gpu"; },
         "gpu: Quern on the first Level Zero device, against intel-opencl or none; times are measured by the devices")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("-f,--problems", options.problems, "Files of problems, one per line")
      ->delimiter(',')
      ->check(CLI::ExistingFile);
  app.add_option("--filter", options.filter, "Only problems whose line contains this text");
  app.add_option("--cpus", options.cpus, "CPUs to pin to (default: the first, one per thread)")->delimiter(',');
  app.add_option("--runs", options.runs, "Samples of each contestant and problem")->check(CLI::Range(1, 100000));
  app.add_option("--json", options.json, "Also write the results to this file");
  app.add_option("--plot", options.plot,
                 "Also draw an SVG file: ratios by family and peer, or with --overheads the ladder");
  app.add_option("--plot-roofline", options.roofline, "Also draw the problems under the machine's roofline");
  app.add_option("--peers-folder", options.peersFolder, "Folder where tools/peers.sh installed the peers");
  app.add_option("--baseline", options.baseline, "bin/quern-bench of another build of Quern, as one more peer")
      ->check(CLI::ExistingFile);
  app.add_flag("--overheads", options.overheads, "Instead measure compilation, caches, calls and process start");
  app.add_flag("--calls", options.calls,
               "Instead measure single calls: Quern's interface, the drop-in's, and oneDNN's");
  app.add_flag("--streams", options.streams,
               "Instead measure calls with new shapes: with tiers, with only specialized kernels, and with oneDNN; "
               "--filter selects 'STREAM, CONTESTANT'");
  app.add_option("--stream-calls", options.streamCalls, "Number of calls of a stream; at most 10000 for new shapes")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--model", options.processors,
                 "Instead count cycles of innermost loops on LLVM's models of these processors, by its names "
                 "(neoverse-n1,neoverse-v1,neoverse-v2), against the peak and handwritten loops")
      ->delimiter(',');
  app.add_option("--target", options.targets, "Targets of --model")->delimiter(';');
  app.add_option("--serve", options.serveAs, "Be one contestant (internal)")->group("");
  app.add_option("--library", options.library, "Path of libdnnl.so.3 or of OpenCL (internal)")->group("");
}

int serveContestant(const Options &options) {
  int threads = options.threads.front();
  if (options.serveAs == "first-result")
    return serveFirstResult();
  if (options.serveAs == "nothing")
    return serveNothing();
  if (options.serveAs == quernName)
    return serve(*(options.onDevice ? createQuernDevice() : createQuern(threads)));
  if (options.serveAs == primitiveName)
    return serve(*createQuernPrimitive(threads));
  if (options.serveAs == familyName)
    return serve(*createQuernFamily(threads));
  if (options.serveAs == copyName)
    return serve(*createCopy(threads));
  if (options.serveAs == "calls")
    return serve(*createCalls(options.library));
  if (options.serveAs == "stream")
    return serve(*createStreamOfCalls(options.library));
  if (options.serveAs == "onednn")
    return serve(*createOneDnn(options.library));
  if (options.serveAs == "opencl")
    return serve(*createOpenCl(options.library, options.onDevice));
  throw std::runtime_error("unknown contestant " + options.serveAs);
}

Settings settingsFor(const Options &options, int threads) {
  if (static_cast<int>(options.cpus.size()) < threads)
    throw std::runtime_error(std::to_string(threads) + " threads, but only " + std::to_string(options.cpus.size()) +
                             " CPUs");
  Settings settings;
  settings.threads = threads;
  settings.onDevice = options.onDevice;
  settings.levelZeroDriver = QUERN_BENCH_LEVEL_ZERO_DRIVER;
  settings.runs = options.runs;
  settings.cpus.assign(options.cpus.begin(), options.cpus.begin() + threads);
  if (options.peers.empty())
    settings.peers =
        options.onDevice ? std::vector<std::string>{openClName} : std::vector<std::string>{"onednn-3.13", "onednn-3.2"};
  else if (options.peers != std::vector<std::string>{"none"})
    settings.peers = options.peers;
  if (options.onDevice && !settings.peers.empty() && settings.peers != std::vector<std::string>{openClName})
    throw std::runtime_error("the peer of a device is intel-opencl or none: --peers=");
  if (!options.baseline.empty()) {
    settings.baseline = std::filesystem::absolute(options.baseline);
    settings.peers.push_back(baselineName);
  }
  settings.peersFolder = options.peersFolder;
  settings.driversFolder = QUERN_BENCH_ROOT "/tools/quern-bench/peers";
  return settings;
}

Report compare(const Settings &settings, const std::vector<BenchProblem> &problems) {
  Report report{settings, {}};
  Comparison comparison(settings);
  for (const BenchProblem &problem : problems) {
    std::fprintf(stderr, "%d thread(s): %s\n", settings.threads, problem.title().c_str());
    report.rows.push_back(comparison.measure(problem));
  }
  return report;
}

std::vector<std::string> selectedLines(const Options &options) {
  std::vector<std::string> lines;
  for (const std::string &file : options.problems) {
    std::vector<std::string> more = readProblemFile(file);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  std::erase_if(lines, [&](const std::string &line) { return line.find(options.filter) == std::string::npos; });
  if (lines.empty())
    throw std::runtime_error("no problem contains '" + options.filter + "'");
  return lines;
}

void write(const std::string &path, const std::string &text) {
  std::ofstream out(path);
  out << text;
  out.close(); // flushes
  if (!out)
    throw std::runtime_error("cannot write " + path);
}

void writeJson(const std::string &path, const nlohmann::json &json) { write(path, json.dump(2) + "\n"); }

int runOverheads(const Options &options) {
  std::vector<Overhead> overheads = measureOverheads(selectedLines(options), options.cpus.front());
  std::cout << describeMachine() << "\n" << describeOverheads(overheads);
  if (!options.plot.empty())
    write(options.plot, plotLadder(overheads));
  if (!options.json.empty()) {
    nlohmann::json json = nlohmann::json::array();
    for (const Overhead &overhead : overheads)
      json.push_back({{"name", overhead.name},
                      {"unit", overhead.unit},
                      {"min", overhead.minimum},
                      {"median", overhead.median},
                      {"max", overhead.maximum},
                      {"bound", overhead.bound}});
    writeJson(options.json, json);
  }
  return 0;
}

int runCalls(const Options &options) {
  const Settings settings = settingsFor(options, 1);
  std::cout << describeMachine() << "\n" << describeCalls(measureCalls(settings), settings);
  return 0;
}

int runStreams(const Options &options) {
  StreamSettings settings{settingsFor(options, 1), options.streamCalls, options.filter};
  settings.common.cpus = options.cpus;
  std::cout << describeMachine() << "\n" << describeStreams(measureStreams(settings));
  return 0;
}

int runModel(const Options &options) {
  const ModelReport report = describeModel({options.processors, options.targets, selectedLines(options),
                                            QUERN_BENCH_ROOT "/tools/quern-bench/bounds", QUERN_BENCH_LLVM_MCA});
  std::cout << report.text;
  return report.spills == 0 ? 0 : 1;
}

int runComparison(const Options &options) {
  std::vector<BenchProblem> problems;
  for (const std::string &line : selectedLines(options))
    problems.push_back(BenchProblem::parse(line));
  std::vector<Report> reports;
  for (int threads : options.threads)
    reports.push_back(compare(settingsFor(options, threads), problems));

  std::cout << describeMachine();
  nlohmann::json json = nlohmann::json::array();
  bool sameBits = true, ranAll = true;
  for (const Report &report : reports) {
    std::cout << "\n" << describeComparison(report) << "\n" << describeRefusals(report);
    json.push_back(toJson(report));
    for (const Row &row : report.rows) {
      sameBits &= row.sameBits;
      ranAll &= row.results.at(quernName).done();
    }
  }
  for (size_t i = 1; i < reports.size(); ++i)
    std::cout << "\n" << describeScaling(reports[0], reports[i]);
  std::cout << "\n"
            << (options.onDevice ? ""
                : sameBits       ? "Every result has the same bits with 1, 2, 3, 5 and 8 threads.\n"
                                 : "Some results depend on the number of threads.\n");
  if (!options.json.empty())
    writeJson(options.json, json);
  if (!options.plot.empty())
    write(options.plot, plotRatios(reports.front()));
  if (!options.roofline.empty())
    write(options.roofline, plotRoofline(reports.front()));
  return sameBits && ranAll ? 0 : 1;
}

} // namespace

static int run(int argc, char **argv) {
  Options options;
  CLI::App app(
      "Measures Quern against genuine oneDNN, ONNX Runtime, JAX, PyTorch and IREE, in alternating processes on "
      "the same CPUs.");
  declare(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.serveAs.empty())
      return serveContestant(options);
    return !options.processors.empty() ? runModel(options)
           : options.overheads         ? runOverheads(options)
           : options.calls             ? runCalls(options)
           : options.streams           ? runStreams(options)
                                       : runComparison(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "quern-bench: %s\n", error.what());
    return 2;
  }
}

int main(int argc, char **argv) {
  quern::openStandardStreams();
  return quern::finishOutput("quern-bench", run(argc, argv), 2);
}
