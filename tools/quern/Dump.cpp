//===- Dump.cpp - quern dump ----------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shows a problem after each stage of compilation. The output holds nothing that changes from run to run, so that tests
// can compare it, and each text is complete, so that quern-opt can take it up again.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Kernel.h"
#include "Problem.h"

#include <filesystem>
#include <iostream>

namespace quern {
namespace {

struct DumpOptions {
  GivenProblem given;
  std::string stage = "all", target = "native", directory;
};

struct StageOutput {
  const char *stage;
  quern_code_form_t form;
  const char *file;
  bool isText; ///< what is not text goes to files only
  bool isForCpu = true, isForDevice = true;
};

constexpr StageOutput stageOutputs[] = {
    {"emit", quern_form_emit, "1-emit.mlir", true},
    {"schedule", quern_form_schedule, "2-schedule.mlir", true},
    {"lower", quern_form_lower, "3-lower.mlir", true},
    {"codegen", quern_form_llvm, "4-codegen.ll", true},
    {"codegen", quern_form_asm, "4-codegen.s", true, true, false},
    {"codegen", quern_form_object, "4-codegen.o", false, true, false},
    {"codegen", quern_form_asm, "4-codegen.spvasm", true, false, true},
    {"codegen", quern_form_spirv, "4-codegen.spv", false, false, true},
};

Result<void> dumpOne(const StageOutput &output, const DumpOptions &options, const Problem &problem,
                     const std::string &target) {
  Result<std::string> bytes = compileTo(problem.text, target, output.form);
  if (!bytes)
    return bytes.takeError();
  if (!options.directory.empty())
    return writeOutput((std::filesystem::path(options.directory) / output.file).string(), *bytes);
  if (options.stage == "all")
    std::cout << (output.form == quern_form_asm    ? "# "
                  : output.form == quern_form_llvm ? "; "
                                                   : "// ")
              << "---- " << output.file << " ----\n";
  if (!bytes->ends_with('\n'))
    *bytes += '\n';
  return writeOutput("-", *bytes);
}

/// On standard output codegen alone means assembly; LLVM IR is shown with --stage=all and written with -o.
bool isWanted(const StageOutput &output, const DumpOptions &options, const Target &target) {
  if (!(target.isCpu() ? output.isForCpu : output.isForDevice))
    return false;
  if (options.stage != "all" && options.stage != output.stage)
    return false;
  bool toDirectory = !options.directory.empty();
  return toDirectory || (output.isText && (options.stage == "all" || output.form != quern_form_llvm));
}

int dump(const DumpOptions &options) {
  Result<std::string> line = options.given.read();
  Result<Problem> problem = line ? readProblem(*line, options.target) : Result<Problem>(line.takeError());
  if (!problem)
    return reportError(problem.error());
  if (problem->verified.isNoop)
    return reportError(unimplemented("the tensor is empty: there is no kernel to dump"));
  if (!options.directory.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.directory, failure);
    if (failure)
      return reportError(runtimeError("cannot make directory '", options.directory, "': ", failure.message()));
    std::string about = concat(problem->text, "\n# target ", problem->target.text(), "\n");
    if (Result<void> written = writeOutput((std::filesystem::path(options.directory) / "problem.desc").string(), about);
        !written)
      return reportError(written.error());
  }
  for (const StageOutput &output : stageOutputs)
    if (isWanted(output, options, problem->target))
      if (Result<void> done = dumpOne(output, options, *problem, problem->target.text()); !done)
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
  command.option("-o", options->directory, "Write files into a directory, made if need be");
  command.callback([options, &exitCode] { exitCode = dump(*options); });
}

} // namespace quern
