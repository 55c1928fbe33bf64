//===- Run.cpp - quern run ------------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs problems on real buffers: prints the origin of each kernel, the times to compile and run it, and, with --check,
// whether the result is correct.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Crash.h"
#include "Json.h"
#include "Kernel.h"
#include "Npy.h"
#include "Output.h"
#include "ProblemData.h"
#include "Timing.h"

#include "Reference/TestData/TestData.h"

#include <cmath>
#include <iostream>

namespace quern {
namespace {

struct RunOptions {
  std::vector<std::string> lines;
  std::vector<std::string> functions;       ///< functions in MLIR, "FILE[:function]"
  std::vector<std::string> inputs, outputs; ///< "argument=file.npy"
  std::vector<int64_t> sizes;
  std::string file, engine = "cpu", src, dst, data = "dense", guard = "both";
  uint64_t seed = 1;
  int64_t repeat = 10;
  int64_t misalignment = 0;
  size_t index = 0;
  bool check = false, json = false, inPlace = false, naive = false;

  /// Returns the guarded side of the buffers for each execution. The results of the last one are written, and it is
  /// timed.
  std::vector<GuardedSide> guardedSides() const {
    if (guard != "both")
      return {*guardedSideFromName(guard)};
    return check ? std::vector{GuardedSide::Beginning, GuardedSide::End} : std::vector{GuardedSide::End};
  }
};

/// Returns the command that repeats the check of a problem on one side.
std::string commandOf(const RunOptions &options, const std::string &problem, GuardedSide side) {
  std::string command =
      concat("quern run '", problem, options.engine == "gpu" ? "' --engine=gpu" : "'", " --check --data=", options.data,
             " --seed=", options.seed, options.inPlace ? " --in-place" : "");
  if (options.misalignment)
    command += concat(" --misalign=", options.misalignment);
  for (size_t i = 0; i < options.sizes.size(); ++i)
    command += concat(i ? "," : " --sizes=", options.sizes[i]);
  return command + concat(" --guard=", nameOf(side));
}

/// Results for one problem.
struct RunReport {
  std::string problem; ///< the verified line, or the given one if it was refused
  std::string title;   ///< shorter form of the line
  Error error;
  quern_primitive_info_t info{}; ///< its strings are invalid, because the kernel is destroyed
  std::string key;               ///< key of the kernel; empty if there is none
  std::string pack;              ///< pack of the kernel; empty if it is from no pack
  Timing timing;
  int64_t bytes = 0;
  int64_t operations = 0;    ///< number of operations in products of matrices; 0: none, or unknown
  bool isOfIntegers = false; ///< true if the factors of the products are integers
  bool wasChecked = false;
  Verdict verdict;
  std::string verdictText, strayWrites;
  GuardedSide side = GuardedSide::End; ///< guarded side of the execution that the verdict is about

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
    QUERN_ASSIGN_OR_RETURN(device, Device::open(options.engine == "gpu" ? quern_gpu : quern_cpu, options.index));
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
    QUERN_ASSIGN_OR_RETURN(ParsedProblem given, readProblem(line, device.target()));
    report.problem = given.text;
    report.title = given.desc().title();
    // One kernel serves every size; buffers and the reference have the given sizes.
    Result<ParsedProblem> sized = Result<ParsedProblem>(given);
    if (!options.sizes.empty()) {
      Result<std::string> sizedLine = withSizes(line, options.sizes);
      sized = sizedLine ? readProblem(*sizedLine, device.target()) : Result<ParsedProblem>(sizedLine.takeError());
    }
    if (!sized)
      return sized.takeError();
    report.bytes = sized->bytesMoved();
    report.operations = sized->productOperations();
    report.isOfIntegers = report.operations && !isFloating(sized->verified.arguments.front().desc.dataType);
    QUERN_ASSIGN_OR_RETURN(Kernel kernel, Kernel::create(device, given.text));
    report.info = kernel.info();
    report.pack = report.info.pack; // a copy, because the string belongs to the kernel
    report.key = report.info.key;
    DataOptions dataOptions{*fillFromName(options.data),    options.seed,  options.inPlace, options.misalignment,
                            options.guardedSides().front(), !options.check};
    for (const std::string &input : options.inputs)
      dataOptions.given.push_back(input.substr(0, input.find('=')));
    QUERN_ASSIGN_OR_RETURN(ProblemData data, ProblemData::create(*sized, dataOptions));
    QUERN_RETURN_IF_ERROR(loadInputs(data));
    if (options.check && !options.sizes.empty())
      QUERN_RETURN_IF_ERROR(tryOnce(kernel, data));
    QUERN_RETURN_IF_ERROR(options.check ? data.computeExpected() : Result<void>());
    Result<void> executed = execute(kernel, data, report);
    nameRunningCase({});
    return executed;
  }

  /// Executes the kernel before the reference is computed, because an execution refuses sizes that do not fit.
  Result<void> tryOnce(Kernel &kernel, ProblemData &data) const {
    QUERN_RETURN_IF_ERROR(data.addScratchpad(kernel));
    QUERN_RETURN_IF_ERROR(kernel.bind(data.buffers()));
    Result<void> executed = kernel.execute();
    data.refill();
    return executed;
  }

  Result<void> execute(Kernel &kernel, ProblemData &data, RunReport &report) const {
    QUERN_RETURN_IF_ERROR(data.addScratchpad(kernel));
    for (GuardedSide side : options.guardedSides()) { // touches every page before anything is timed
      data.moveTo(side);
      data.refill();
      QUERN_RETURN_IF_ERROR(kernel.bind(data.buffers()));
      if (options.check)
        nameRunningCase(commandOf(options, report.problem, side));
      QUERN_RETURN_IF_ERROR(kernel.execute());
      if (options.check && report.exitCode() == exitOk)
        checkOutputs(data, side, report);
    }
    QUERN_RETURN_IF_ERROR(storeOutputs(data));
    QUERN_RETURN_IF_ERROR(kernel.waitSpecialized());
    return measure([&] { return kernel.run(); }, options.repeat, 0, report.timing);
  }

  static void checkOutputs(const ProblemData &data, GuardedSide side, RunReport &report) {
    report.wasChecked = true;
    report.side = side;
    const ReferenceOutput *worst = nullptr;
    report.verdict = data.judgeOutputs(&worst);
    report.strayWrites = data.strayWrites();
    report.verdictText = worst ? report.verdict.describe(worst->desc) : std::string("there is no output");
  }

  /// Calls `visit(argument, file)` for each "argument=file".
  template <typename Visit>
  static Result<void> forEachFile(const ProblemData &data, const std::vector<std::string> &pairs, Visit visit) {
    for (const std::string &pair : pairs) {
      size_t equals = std::min(pair.find('='), pair.size());
      const ArgumentInfo *argument = data.find(std::string_view(pair).substr(0, equals));
      if (!argument || equals == pair.size())
        return invalidArguments(equals == pair.size()
                                    ? concat("'", pair, "' is not of the form ARGUMENT=FILE")
                                    : concat("this problem has no argument ", pair.substr(0, equals)));
      std::string file = pair.substr(equals + 1);
      if (Result<void> done = visit(*argument, file); !done)
        return done.error().message.starts_with(file)
                   ? done
                   : Error{done.error().status, concat(file, ": ", done.error().message)};
    }
    return {};
  }

  Result<void> loadInputs(ProblemData &data) const {
    Result<void> loaded =
        forEachFile(data, options.inputs, [&](const ArgumentInfo &argument, const std::string &file) -> Result<void> {
          if (argument.isOutput)
            return invalidArguments(argument.name, " is written, not read");
          QUERN_ASSIGN_OR_RETURN(std::string bytes, readFile(file));
          QUERN_ASSIGN_OR_RETURN(NpyArray array, parseNpy(bytes));
          Result<void> copied = copyNpyTo(array, argument.desc, data.buffer(argument.index));
          if (copied)
            appendRnnSums(argument.desc, data.buffer(argument.index));
          return copied;
        });
    data.keepInputs();
    return loaded;
  }

  Result<void> storeOutputs(ProblemData &data) const {
    return forEachFile(data, options.outputs,
                       [&](const ArgumentInfo &argument, const std::string &file) -> Result<void> {
                         Result<std::string> bytes = writeNpy(argument.desc, data.buffer(argument.index));
                         return bytes ? writeOutput(file, *bytes) : Result<void>(bytes.takeError());
                       });
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
  if (!report.pack.empty())
    json["pack"] = report.pack;
  json["key"] = report.key;
  json["create_ns"] = report.info.create_ns;
  json["compile_ns"] = report.info.compile_ns;
  json["code_bytes"] = report.info.code_bytes;
  json["run_ns"] = {{"min", report.timing.minNs}, {"median", report.timing.medianNs}, {"runs", report.timing.runs}};
  json["bytes"] = report.bytes;
  json["gb_per_s"] = report.timing.gbPerS(report.bytes);
  if (report.operations) {
    json["operations"] = report.operations;
    json["gop_per_s"] = report.timing.perNs(report.operations);
  }
  if (report.wasChecked) {
    // JSON has no infinity: the error of a misplaced NaN or infinity is null.
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
  std::cout << report.title << '\n' << "  from " << nameOf(report.info.origin);
  if (!report.pack.empty())
    std::cout << ' ' << report.pack;
  if (report.info.origin == quern_origin_compiled)
    std::cout << ", compiled in " << formatNs(static_cast<double>(report.info.compile_ns));
  else if (report.info.origin != quern_origin_none)
    std::cout << ", ready in " << formatNs(static_cast<double>(report.info.create_ns));
  std::cout << ", runs in " << formatNs(report.timing.minNs) << " (median " << formatNs(report.timing.medianNs)
            << "), ";
  if (report.operations)
    std::cout << formatFixed(report.timing.perNs(report.operations), 1)
              << (report.isOfIntegers ? " GOP/s\n" : " GFLOP/s\n");
  else
    std::cout << formatFixed(report.timing.gbPerS(report.bytes), 1) << " GB/s\n";
  if (report.wasChecked) {
    std::ostringstream error;
    error.precision(2);
    error << "  largest error " << report.verdict.maxAbsError;
    if (report.verdict.threshold > 0)
      error << " (" << report.verdict.worst << " of the threshold)";
    std::cout << error.str() << ": " << (report.exitCode() == exitOk ? "ok" : "WRONG") << '\n';
  }
  if (report.exitCode() == exitWrong) {
    std::string why = report.strayWrites.empty() ? report.verdictText : report.strayWrites;
    std::cout.flush();
    std::cerr << "quern: check failed: " << why << "\n  " << commandOf(options, report.problem, report.side) << '\n';
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
  if (Result<void> added = addMlir(lines, options.functions, options.naive); !added)
    return reportError(added.error());
  if (lines.empty())
    return reportError(
        invalidArguments("nothing to run: give a line, --mlir=FILE, or -f FILE with one problem per line"));
  if (lines.size() > 1 && (!options.inputs.empty() || !options.outputs.empty()))
    return reportError(invalidArguments("files of arguments require one problem; there are ", lines.size()));
  Runner runner(options);
  if (Result<void> opened = runner.open(); !opened)
    return reportError(opened.error());
  if (options.check)
    reportCrashes();
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

void addRunCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<RunOptions>();
  Command command = program.subcommand("run", "Run problems, optionally checking the result");
  command.option("LINE", options->lines, "Problems in text form, one per argument");
  command.option("-f,--file", options->file, "File of problems, one per line; # starts a comment");
  command.option("--mlir", options->functions, "FILE[:function]: a function of a module in MLIR").oneArgument();
  command.flag("--naive", options->naive, "Lower operations that no recipe supports to naive loops");
  command.flag("--check", options->check, "Compare with the reference; exit 1 if wrong");
  command.option("--engine", options->engine, "cpu or gpu").choices({"cpu", "gpu"}).showDefault();
  command.option("--index", options->index, "Number of the engine of its kind, as `quern devices` shows it")
      .showDefault();
  command.option("--arg", options->inputs, "ARGUMENT=FILE: read an input from a .npy file (bf16 and f8 as raw words)")
      .oneArgument();
  command.option("--out", options->outputs, "ARGUMENT=FILE: write an output to a .npy file").oneArgument();
  command.option("--src", options->src, "Short for --arg src=FILE");
  command.option("--dst", options->dst, "Short for --out dst=FILE");
  command
      .option("--sizes", options->sizes,
              "Values of the `?` in the line for this run, such as 8,1000; one value serves all")
      .commas()
      .oneArgument()
      .notNegative();
  command.option("--data", options->data, "Values of inputs without a file: dense, designed or special")
      .choices({"dense", "designed", "special"})
      .showDefault();
  command.option("--seed", options->seed, "Seed of the values").showDefault();
  command.flag("--in-place", options->inPlace, "The output overwrites the input (diff_src: diff_dst)");
  command.option("--misalign", options->misalignment, "Offset of buffers from a multiple of 64 bytes, in elements")
      .range(0, 64)
      .showDefault();
  command
      .option("--guard", options->guard,
              "Side of each buffer that is adjacent to an inaccessible page; --check executes with both")
      .choices({"end", "beginning", "both"})
      .showDefault();
  command.option("--repeat", options->repeat, "Number of timed executions").range(1, 1000000).showDefault();
  command.flag("--json", options->json, "Print JSON");
  command.callback([options, &exitCode] {
    if (!options->src.empty())
      options->inputs.push_back("src=" + options->src);
    if (!options->dst.empty())
      options->outputs.push_back("dst=" + options->dst);
    exitCode = runAll(*options);
  });
}

} // namespace quern
