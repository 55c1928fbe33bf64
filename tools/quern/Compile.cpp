//===- Compile.cpp - quern compile ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles ahead of time, for any target, to any form. An artifact is a file of the caches.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Kernel.h"
#include "Problem.h"

#include <unistd.h>

namespace quern {
namespace {

struct CompileOptions {
  GivenProblem given;
  std::string target = "native", form = "artifact", output = "-";
};

const std::map<std::string, quern_code_form_t> forms = {
    {"mlir", quern_form_emit},   {"emit", quern_form_emit},          {"schedule", quern_form_schedule},
    {"lower", quern_form_lower}, {"llvm", quern_form_llvm},          {"asm", quern_form_asm},
    {"obj", quern_form_object},  {"spirv", quern_form_spirv},        {"artifact", quern_form_artifact},
    {"trace", quern_form_trace}, {"debug", quern_form_debug_object},
};

int compile(const CompileOptions &options) {
  Result<std::string> line = options.given.read();
  Result<ParsedProblem> problem = line ? readProblem(*line, options.target) : Result<ParsedProblem>(line.takeError());
  if (!problem)
    return reportError(problem.error());
  quern_code_form_t form = forms.at(options.form);
  bool isBinary = form == quern_form_object || form == quern_form_spirv || form == quern_form_artifact ||
                  form == quern_form_debug_object;
  if (isBinary && options.output == "-" && isatty(STDOUT_FILENO))
    return reportError(
        invalidArguments("--emit=", options.form, " is binary and standard output is a terminal: give -o FILE"));
  Result<std::string> bytes = compileTo(problem->text, problem->target.text(), form);
  if (!bytes)
    return reportError(bytes.error());
  Result<void> written = writeOutput(options.output, *bytes);
  return written ? static_cast<int>(exitOk) : reportError(written.error());
}

} // namespace

void addCompileCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<CompileOptions>();
  Command command = program.subcommand("compile", "Compile ahead of time to any form");
  std::vector<std::string> names;
  for (const auto &[name, form] : forms)
    names.push_back(name);
  options->given.addTo(command);
  command
      .option("--target", options->target,
              "An instruction set, as `quern devices` lists them, native, or spirv64 with a device's limits")
      .showDefault();
  command
      .option("--emit", options->form,
              "mlir (linalg, the emit stage; also schedule, lower), llvm, asm, obj, debug (obj with DWARF of the "
              "schedule), "
              "spirv, artifact, or trace (JSON: all stages, with the origin of each line)")
      .choices(names)
      .showDefault();
  command.option("-o", options->output, "Output file; - is standard output").showDefault();
  command.callback([options, &exitCode] { exitCode = compile(*options); });
}

} // namespace quern
