//===- Dump.cpp - quern dump ----------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shows a problem after each stage of compilation. The output is deterministic, so tests can compare it, and each text
// is complete, so quern-opt can continue from it.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Kernel.h"
#include "Locations.h"
#include "Measure.h"
#include "Page.h"
#include "Problem.h"

#include <filesystem>
#include <iostream>

namespace quern {
namespace {

struct DumpOptions {
  GivenProblem given;
  std::string stage = "all", target = "native", output;
  std::vector<std::string> others; ///< targets, lines and functions that the page shows next to the problem
  bool isPage = false, isJson = false, hasLocations = false, isMeasured = false;
  bool isTrace() const { return isPage || isJson; }
};

struct StageOutput {
  const char *stage;
  quern_code_form_t form;
  const char *file;
  bool isText; ///< true for text; binary forms are only written to files
  bool isForCpu = true, isForDevice = true;
  const char *traced = ""; ///< name of the stage in a trace; "": it has none
};

constexpr StageOutput stageOutputs[] = {
    {"emit", quern_form_emit, "1-emit.mlir", true, true, true, "emit"},
    {"schedule", quern_form_schedule, "2-schedule.mlir", true, true, true, "schedule"},
    {"lower", quern_form_lower, "3-lower.mlir", true},
    {"codegen", quern_form_llvm, "4-codegen.ll", true, true, true, "llvm"},
    {"codegen", quern_form_asm, "4-codegen.s", true, true, false, "assembly"},
    {"codegen", quern_form_object, "4-codegen.o", false, true, false},
    {"codegen", quern_form_asm, "4-codegen.spvasm", true, false, true, "assembly"},
    {"codegen", quern_form_spirv, "4-codegen.spv", false, false, true},
};

/// Writes one stage. `located` has the texts of the stages with locations, if they are requested.
Result<void> dumpOne(const StageOutput &output, const DumpOptions &options, const ParsedProblem &problem,
                     const std::map<std::string, std::string> &located) {
  auto traced = located.find(output.traced);
  QUERN_ASSIGN_OR_RETURN(std::string bytes, traced != located.end()
                                                ? Result<std::string>(traced->second)
                                                : compileTo(problem.text, problem.target.text(), output.form));
  if (!options.output.empty())
    return writeOutput((std::filesystem::path(options.output) / output.file).string(), bytes);
  if (options.stage == "all")
    std::cout << (output.form == quern_form_asm    ? "# "
                  : output.form == quern_form_llvm ? "; "
                                                   : "// ")
              << "---- " << output.file << " ----\n";
  if (!bytes.ends_with('\n'))
    bytes += '\n';
  return writeOutput("-", bytes);
}

/// Returns true if a form is requested and exists for the target. On standard output, --stage=codegen prints only
/// assembly; LLVM IR is printed with --stage=all and written with -o.
bool isWanted(const StageOutput &output, const DumpOptions &options, const Target &target) {
  if (!(target.isCpu() ? output.isForCpu : output.isForDevice))
    return false;
  if (options.stage != "all" && options.stage != output.stage)
    return false;
  bool toDirectory = !options.output.empty();
  return toDirectory || (output.isText && (options.stage == "all" || output.form != quern_form_llvm));
}

Result<PageKernel> traced(const std::string &line, const std::string &target, bool isMeasured) {
  QUERN_ASSIGN_OR_RETURN(ParsedProblem problem, readProblem(line, target));
  QUERN_ASSIGN_OR_RETURN(std::string trace, compileTo(problem.text, problem.target.text(), quern_form_trace));
  QUERN_ASSIGN_OR_RETURN(std::string explanation, explain(problem.text, problem.target.text()));
  PageKernel kernel{nlohmann::json::parse(trace), std::move(explanation)};
  if (isMeasured)
    QUERN_RETURN_IF_ERROR(measureInto(kernel.trace, problem));
  return kernel;
}

/// Returns the kernel of a `--compare` value: a value with ".mlir" is a function, another value with a space is a line,
/// and all others are targets.
Result<PageKernel> tracedComparison(const std::string &other, const std::string &line, const DumpOptions &options) {
  if (other.find(".mlir") != std::string::npos) {
    Result<std::string> function = lineOfMlir(other, options.given.allowNaive);
    return function ? traced(*function, options.target, options.isMeasured) : Result<PageKernel>(function.takeError());
  }
  const bool isLine = other.find(' ') != std::string::npos;
  return isLine ? traced(other, options.target, options.isMeasured) : traced(line, other, options.isMeasured);
}

/// Writes all stages with their origins as a page or as JSON, in which several kernels form an array.
Result<void> dumpTrace(const std::string &line, const DumpOptions &options) {
  std::vector<PageKernel> kernels;
  QUERN_ASSIGN_OR_RETURN(PageKernel first, traced(line, options.target, options.isMeasured));
  kernels.push_back(std::move(first));
  for (const std::string &other : options.others) {
    QUERN_ASSIGN_OR_RETURN(PageKernel kernel, tracedComparison(other, line, options));
    kernels.push_back(std::move(kernel));
  }
  const std::string output = options.output.empty() ? "-" : options.output;
  if (options.isPage)
    return writeOutput(output, pageOf(kernels));
  nlohmann::json all = nlohmann::json::array();
  for (const PageKernel &kernel : kernels)
    all.push_back(kernel.trace);
  return writeOutput(output, (kernels.size() > 1 ? all : all.front()).dump() + "\n");
}

int dump(const DumpOptions &options) {
  Result<std::string> line = options.given.read();
  Result<ParsedProblem> problem = line ? readProblem(*line, options.target) : Result<ParsedProblem>(line.takeError());
  if (!problem)
    return reportError(problem.error());
  if (options.isMeasured && !options.isTrace())
    return reportError(invalidArguments("--measure goes with --html or --json"));
  if (problem->verified.isNoop)
    return reportError(unimplemented("the tensor is empty: there is no kernel to dump"));
  if (options.isTrace()) {
    Result<void> written = dumpTrace(*line, options);
    return written ? static_cast<int>(exitOk) : reportError(written.error());
  }
  if (!options.output.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.output, failure);
    if (failure)
      return reportError(runtimeError("cannot make directory '", options.output, "': ", failure.message()));
    std::string about = concat(problem->text, "\n# target ", problem->target.text(), "  key ",
                               keyOf(problem->verified.desc, problem->target).digest.hex(), "\n");
    if (Result<void> written = writeOutput((std::filesystem::path(options.output) / "problem.desc").string(), about);
        !written)
      return reportError(written.error());
  }
  std::map<std::string, std::string> located;
  if (options.hasLocations) {
    Result<std::string> trace = compileTo(problem->text, problem->target.text(), quern_form_trace);
    if (!trace)
      return reportError(trace.error());
    located = locatedStages(*trace);
  }
  for (const StageOutput &output : stageOutputs)
    if (isWanted(output, options, problem->target))
      if (Result<void> done = dumpOne(output, options, *problem, located); !done)
        return reportError(done.error());
  return exitOk;
}

} // namespace

void addDumpCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<DumpOptions>();
  Command command = program.subcommand("dump", "Show a problem after each stage of compilation");
  options->given.addTo(command);
  command
      .option("--stage", options->stage,
              "emit (linalg), schedule (vector and scf), lower (LLVM dialect), codegen, or all")
      .choices({"emit", "schedule", "lower", "codegen", "all"})
      .showDefault();
  command
      .option("--target", options->target,
              "An instruction set, as `quern devices` lists them, native, or spirv64 with a device's limits")
      .showDefault();
  command.flag("--locations", options->hasLocations,
               "Add a comment to each line: its step, and its lines in the previous stage");
  command.flag("--html", options->isPage, "One HTML page of all stages in columns, with the origin of each line");
  command.flag("--json", options->isJson, "The data of the page as JSON; docs/command.md lists the fields");
  command.option("--compare", options->others,
                 "For --html and --json: another target, problem in text form or FILE.mlir[:function] to compare");
  command.flag("--measure", options->isMeasured,
               "For --html and --json: time on this machine, relative to a copy and the peak, and samples");
  command.option("-o", options->output,
                 "Directory for the files, created if necessary; with --html or --json the output file");
  command.callback([options, &exitCode] { exitCode = dump(*options); });
}

} // namespace quern
