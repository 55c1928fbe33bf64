//===- Run.cpp - quern run ------------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs problems on real buffers: where each kernel came from, how long compiling and running took, and, with --check, whether the result
// is right.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Json.h"
#include "Kernel.h"
#include "Npy.h"
#include "Output.h"
#include "ProblemData.h"
#include "Timing.h"

#include <cmath>
#include <iostream>

namespace quern {
namespace {

struct RunOptions {
  std::vector<std::string> lines;
  std::string file, engine = "cpu", src, dst, data = "dense";
  uint64_t seed = 1;
  int64_t repeat = 10;
  int64_t misalignment = 0;
  bool check = false, json = false, inPlace = false;
};

/// What one problem gave.
struct RunReport {
  std::string problem; ///< the verified line, or the given one if it was refused
  Error error;
  quern_primitive_info_t info{}; ///< its strings are not used: the kernel is gone
  Timing timing;
  int64_t bytes = 0;
  bool wasChecked = false;
  Verdict verdict;
  std::string verdictText, strayWrites;

  int exitCode() const {
    if (error.status != Status::Success)
      return exitCodeOf(error.status);
    return wasChecked && (!verdict.isRight || !strayWrites.empty()) ? exitWrong : exitOk;
  }
};

class Runner {
public:
  explicit Runner(const RunOptions &options) : options(options) {}

  Result<void> open() {
    Result<Device> opened = Device::open(options.engine == "gpu" ? quern_gpu : quern_cpu);
    if (!opened)
      return opened.takeError();
    device = std::move(*opened);
    return {};
  }

  RunReport run(const std::string &line) {
    RunReport report;
    report.problem = line;
    if (Result<void> done = run(line, report); !done)
      report.error = done.takeError();
    return report;
  }

private:
  Result<void> run(const std::string &line, RunReport &report) {
    Result<Problem> problem = readProblem(line, Target::host());
    if (!problem)
      return problem.takeError();
    report.problem = problem->text;
    report.bytes = problem->bytesMoved();
    Result<Kernel> kernel = Kernel::create(device, problem->text);
    if (!kernel)
      return kernel.takeError();
    report.info = kernel->info();
    DataOptions dataOptions{*fillFromName(options.data), options.seed, options.inPlace, options.misalignment};
    Result<ProblemData> data = ProblemData::create(*problem, dataOptions);
    if (!data)
      return data.takeError();
    if (Result<void> loaded = loadSource(*data); !loaded)
      return loaded;
    if (Result<void> expected = options.check ? data->computeExpected() : Result<void>(); !expected)
      return expected;
    if (Result<void> bound = kernel->bind(data->buffers()); !bound)
      return bound;
    // The first execution is the one that is checked and written; it also touches every page before anything is timed.
    if (Result<void> executed = kernel->execute(); !executed)
      return executed;
    if (options.check)
      checkOutputs(*data, *problem, report);
    if (Result<void> stored = storeDestination(*data); !stored)
      return stored;
    return measure([&] { return kernel->execute(); }, options.repeat, 0, report.timing);
  }

  static void checkOutputs(const ProblemData &data, const Problem &problem, RunReport &report) {
    report.wasChecked = true;
    report.verdict = data.judgeOutputs();
    report.strayWrites = data.strayWrites();
    for (const ArgumentInfo &argument : problem.verified.arguments)
      if (argument.isOutput)
        report.verdictText = report.verdict.describe(argument.desc);
  }

  Result<void> loadSource(ProblemData &data) const {
    if (options.src.empty())
      return {};
    const TensorDesc *desc = data.descOf(QUERN_ARG_SRC);
    if (!desc)
      return invalidArguments("--src: this problem has no src");
    Result<std::string> bytes = readFile(options.src);
    if (!bytes)
      return bytes.takeError();
    Result<NpyArray> array = parseNpy(*bytes);
    Result<void> copied = array ? copyNpyTo(*array, *desc, data.buffer(QUERN_ARG_SRC)) : Result<void>(array.takeError());
    return copied ? copied : invalidArguments(options.src, ": ", copied.error().message);
  }

  Result<void> storeDestination(ProblemData &data) const {
    if (options.dst.empty())
      return {};
    const TensorDesc *desc = data.descOf(QUERN_ARG_DST);
    if (!desc)
      return invalidArguments("--dst: this problem has no dst");
    Result<std::string> bytes = writeNpy(*desc, data.buffer(QUERN_ARG_DST));
    return bytes ? writeOutput(options.dst, *bytes) : Result<void>(bytes.takeError());
  }

  const RunOptions &options;
  Device device;
};

Json toJson(const RunReport &report) {
  Json json{{"problem", report.problem}};
  if (report.error.status != Status::Success) {
    json["status"] = toString(report.error.status);
    json["error"] = report.error.message;
    return json;
  }
  json["status"] = "success";
  json["origin"] = nameOf(report.info.origin);
  json["create_ns"] = report.info.create_ns;
  json["compile_ns"] = report.info.compile_ns;
  json["code_bytes"] = report.info.code_bytes;
  json["run_ns"] = {{"min", report.timing.minNs}, {"median", report.timing.medianNs}, {"runs", report.timing.runs}};
  json["bytes"] = report.bytes;
  json["gb_per_s"] = report.timing.gbPerS(report.bytes);
  if (report.wasChecked) {
    // JSON has no infinity: a misplaced NaN or infinity is null.
    Json worst = std::isfinite(report.verdict.worst) ? Json(report.verdict.worst) : nullptr;
    json["check"] = {{"ok", report.exitCode() == exitOk},      {"worst_in_thresholds", worst},
                     {"threshold", report.verdict.threshold},  {"max_abs_error", report.verdict.maxAbsError},
                     {"wrong_elements", report.verdict.wrong}, {"text", report.verdictText}};
    if (!report.strayWrites.empty())
      json["check"]["stray_writes"] = report.strayWrites;
  }
  return json;
}

void print(const RunReport &report, const RunOptions &options) {
  if (report.error.status != Status::Success) {
    reportError(report.error);
    return;
  }
  std::cout << report.problem << '\n' << "  from " << nameOf(report.info.origin);
  if (report.info.origin == quern_origin_compiled)
    std::cout << ", compiled in " << formatNs(static_cast<double>(report.info.compile_ns));
  else if (report.info.origin != quern_origin_none)
    std::cout << ", ready in " << formatNs(static_cast<double>(report.info.create_ns));
  std::cout << ", runs in " << formatNs(report.timing.minNs) << " (median " << formatNs(report.timing.medianNs) << "), "
            << formatFixed(report.timing.gbPerS(report.bytes), 1) << " GB/s\n";
  if (report.wasChecked) {
    std::ostringstream error;
    error.precision(2);
    error << "  largest error " << report.verdict.maxAbsError << " (" << report.verdict.worst << " of the threshold)";
    std::cout << error.str() << ": " << (report.exitCode() == exitOk ? "ok" : "WRONG") << '\n';
  }
  if (report.exitCode() == exitWrong) {
    std::string why = report.strayWrites.empty() ? report.verdictText : report.strayWrites;
    std::cout.flush();
    std::cerr << "quern: check failed: " << why << "\n  quern run '" << report.problem << "' --check --data=" << options.data
              << " --seed=" << options.seed << (options.inPlace ? " --in-place" : "") << '\n';
  }
}

int runAll(const RunOptions &options) {
  std::vector<std::string> lines = options.lines;
  if (!options.file.empty()) {
    Result<std::vector<std::string>> more = readProblemFile(options.file);
    if (!more)
      return reportError(more.error());
    lines.insert(lines.end(), more->begin(), more->end());
  }
  if (lines.empty())
    return reportError(invalidArguments("nothing to run: give a line, or -f FILE with one a line"));
  if (lines.size() > 1 && (!options.src.empty() || !options.dst.empty()))
    return reportError(invalidArguments("--src and --dst go with one problem; there are ", lines.size()));
  Runner runner(options);
  if (Result<void> opened = runner.open(); !opened)
    return reportError(opened.error());
  int exitCode = exitOk;
  Json all = Json::array();
  for (const std::string &line : lines) {
    RunReport report = runner.run(line);
    exitCode = moreSerious(exitCode, report.exitCode());
    if (options.json)
      all.push_back(toJson(report));
    else
      print(report, options);
  }
  if (options.json)
    printJson(Json{{"problems", all}});
  return exitCode;
}

} // namespace

void addRunCommand(CLI::App &app, int &exitCode) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Run problems, optionally checking the result");
  command->add_option("LINE", options->lines, "Problems in text form, each one argument");
  command->add_option("-f,--file", options->file, "Read problems from a file, one a line; # begins a comment");
  command->add_flag("--check", options->check, "Compare with the double-precision reference; exit 1 if wrong");
  command->add_option("--engine", options->engine, "cpu or gpu")->check(CLI::IsMember({"cpu", "gpu"}))->capture_default_str();
  command->add_option("--src", options->src, "Take src from a .npy file (bf16 and f8 as raw words)");
  command->add_option("--dst", options->dst, "Write dst to a .npy file");
  command->add_option("--data", options->data, "Without --src: dense, designed or special values")
      ->check(CLI::IsMember({"dense", "designed", "special"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the values")->capture_default_str();
  command->add_flag("--in-place", options->inPlace, "The output overwrites the input");
  command->add_option("--misalign", options->misalignment, "Elements by which buffers miss a multiple of 64 bytes")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Timed executions")->check(CLI::Range(1, 1000000))->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &exitCode] { exitCode = runAll(*options); });
}

} // namespace quern
