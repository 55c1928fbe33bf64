//===- Bench.cpp - quern bench --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Times problems: minimum and median of many executions for each number of threads. quern-bench compares with other
// libraries.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Json.h"
#include "Kernel.h"
#include "Output.h"
#include "ProblemData.h"
#include "Timing.h"

#include <iostream>

namespace quern {
namespace {

struct BenchOptions {
  std::vector<std::string> lines;
  std::vector<std::string> functions; ///< functions in MLIR, "FILE[:function]"
  std::string file;
  std::vector<int> threads;
  std::vector<int64_t> sizes;
  double seconds = 0.3;
  uint64_t seed = 1;
  bool json = false, naive = false;
};

struct Measurement {
  std::string problem, title;
  int threads;
  int64_t bytes, compileNs;
  Timing timing;
};

Result<std::vector<Measurement>> benchOne(const BenchOptions &options, const Device &device, const std::string &line) {
  QUERN_ASSIGN_OR_RETURN(ParsedProblem given, readProblem(line, Target::host()));
  Result<std::string> sizedLine =
      options.sizes.empty() ? Result<std::string>(given.text) : withSizes(line, options.sizes);
  Result<ParsedProblem> problem =
      sizedLine ? readProblem(*sizedLine, Target::host()) : Result<ParsedProblem>(sizedLine.takeError());
  if (!problem)
    return problem.takeError();
  QUERN_ASSIGN_OR_RETURN(Kernel kernel, Kernel::create(device, given.text));
  QUERN_ASSIGN_OR_RETURN(ProblemData data, ProblemData::create(*problem, {.seed = options.seed, .isTimed = true}));
  QUERN_RETURN_IF_ERROR(data.addScratchpad(kernel));
  QUERN_RETURN_IF_ERROR(kernel.bind(data.buffers()));
  std::vector<Measurement> measurements;
  for (int threads : options.threads) {
    QUERN_RETURN_IF_ERROR(checked(quern_set_num_threads(threads)));
    Result<void> ready = kernel.waitSpecialized();
    QUERN_RETURN_IF_ERROR(ready ? kernel.execute() : ready);
    Measurement measurement{given.text, given.desc().title(), threads, problem->bytesMoved(), kernel.info().compile_ns,
                            {}};
    constexpr int64_t minRuns = 10;
    if (Result<void> done = measure([&] { return kernel.execute(); }, minRuns, options.seconds, measurement.timing);
        !done)
      return done.takeError();
    measurements.push_back(measurement);
  }
  return measurements;
}

void print(const std::vector<Measurement> &measurements, bool asJson) {
  if (asJson) {
    Json all = Json::array();
    for (const Measurement &m : measurements)
      all.push_back({{"problem", m.problem},
                     {"threads", m.threads},
                     {"min_ns", m.timing.minNs},
                     {"median_ns", m.timing.medianNs},
                     {"runs", m.timing.runs},
                     {"bytes", m.bytes},
                     {"gb_per_s", m.timing.gbPerS(m.bytes)},
                     {"compile_ns", m.compileNs}});
    printJson(Json{{"measurements", all}});
    return;
  }
  Table table({">min", ">median", ">GB/s", ">threads", "problem"});
  for (const Measurement &m : measurements)
    table.addRow({formatNs(m.timing.minNs), formatNs(m.timing.medianNs), formatFixed(m.timing.gbPerS(m.bytes), 1),
                  std::to_string(m.threads), m.title});
  table.print(std::cout);
}

int bench(BenchOptions options) {
  if (!options.file.empty()) {
    Result<std::vector<std::string>> more = readProblemFile(options.file);
    if (!more)
      return reportError(more.error());
    options.lines.insert(options.lines.end(), more->begin(), more->end());
  }
  if (Result<void> added = addMlir(options.lines, options.functions, options.naive); !added)
    return reportError(added.error());
  if (options.lines.empty())
    return reportError(
        invalidArguments("nothing to time: give a line, --mlir=FILE, or -f FILE with one problem per line"));
  if (options.threads.empty()) {
    int threads = 1;
    if (Result<void> got = checked(quern_get_num_threads(&threads)); !got)
      return reportError(got.error());
    options.threads = {threads};
  }
  Result<Device> device = Device::open(quern_cpu);
  if (!device)
    return reportError(device.error());
  int exitCode = exitOk;
  std::vector<Measurement> all;
  {
    ProgressBar progress("timing", options.lines.size());
    for (const std::string &line : options.lines) {
      Result<std::vector<Measurement>> measurements = benchOne(options, *device, line);
      if (measurements)
        all.insert(all.end(), measurements->begin(), measurements->end());
      else
        exitCode = moreSerious(exitCode, reportError(measurements.error()));
      progress.advance();
    }
  }
  print(all, options.json);
  return exitCode;
}

} // namespace

void addBenchCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<BenchOptions>();
  Command command = program.subcommand("bench", "Time problems");
  command.option("LINE", options->lines, "Problems in text form, one per argument");
  command.option("-f,--file", options->file, "File of problems, one per line; # starts a comment");
  command.option("--mlir", options->functions, "FILE[:function]: a function of a module in MLIR").oneArgument();
  command.flag("--naive", options->naive, "Lower operations that no recipe supports to naive loops");
  command.option("--threads", options->threads, "Numbers of threads, such as 1,2 (default: QUERN_NUM_THREADS or all)")
      .commas()
      .oneArgument()
      .range(1, 4096);
  command.option("--sizes", options->sizes, "Values of the `?` in a line, such as 8,1000; one value serves all")
      .commas()
      .oneArgument();
  command.option("--seconds", options->seconds, "Time for each measurement").range(0.0, 3600.0).showDefault();
  command.option("--seed", options->seed, "Seed of the values").showDefault();
  command.flag("--json", options->json, "Print JSON");
  command.callback([options, &exitCode] { exitCode = bench(*options); });
}

} // namespace quern
