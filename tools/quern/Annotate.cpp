//===- Annotate.cpp - quern annotate --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Prints the assembly of a problem in the terminal, each instruction with its share of samples on this machine, the
// estimate of LLVM's processor model, and its step: the columns of a page, readable over ssh.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Kernel.h"
#include "Locations.h"
#include "Measure.h"
#include "Output.h"
#include "Problem.h"

#include <iostream>
#include <sstream>

namespace quern {
namespace {

struct AnnotateOptions {
  GivenProblem given;
  std::string target = "native", processor;
  double minPercent = 0;
};

/// Text before each line of the assembly, and above the first line of a loop.
struct Notes {
  std::vector<double> samples; ///< percent of the samples; 0: none
  std::vector<std::string> cycles, marks, above;
  explicit Notes(size_t lines) : samples(lines), cycles(lines), marks(lines), above(lines) {}
};

/// Returns the estimate for a processor, or the first one if there is none for it.
const nlohmann::json *estimateFor(const nlohmann::json &loop, const std::string &processor) {
  const nlohmann::json *found = nullptr;
  for (const nlohmann::json &estimate : loop["estimates"])
    if (!found || estimate["machine"] == processor)
      found = &estimate;
  return found;
}

std::string inWords(const nlohmann::json &estimate) {
  const std::string machine = estimate["machine"];
  if (estimate.contains("whyNot"))
    return machine + ": " + estimate["whyNot"].get<std::string>();
  return concat(machine, ": ", formatFixed(estimate["cycles"], 1), " cycles per iteration, ",
                formatFixed(estimate["microOps"], 0), " micro-operations, bound by ",
                estimate["boundBy"].get<std::string>());
}

/// The instructions of a loop are the lines that have an offset, in order.
void addLoops(Notes &notes, const nlohmann::json &assembly, const std::string &processor) {
  if (!assembly.contains("innermost"))
    return;
  for (const nlohmann::json &loop : assembly["innermost"]) {
    const nlohmann::json *estimate = estimateFor(loop, processor);
    const size_t first = loop["first"].get<size_t>() - 1, last = loop["last"].get<size_t>() - 1;
    if (!estimate || first >= notes.above.size() || last >= notes.above.size())
      continue;
    notes.above[first] = inWords(*estimate);
    if (!estimate->contains("costs"))
      continue;
    size_t instruction = 0;
    const nlohmann::json &costs = (*estimate)["costs"];
    for (size_t line = first; line <= last && instruction < costs.size(); ++line)
      if (assembly["offsets"][line] >= 0) {
        const nlohmann::json &cost = costs[instruction++];
        notes.cycles[line] = concat(cost[0].get<unsigned>(), " ", formatFixed(cost[1], 2));
      }
  }
}

Notes notesOf(const nlohmann::json &trace, const nlohmann::json &assembly, const std::string &processor) {
  Notes notes(assembly["origins"].size());
  addLoops(notes, assembly, processor);
  if (assembly.contains("marks"))
    for (const auto &[mark, lines] : assembly["marks"].items())
      for (const size_t line : lines)
        notes.marks[line - 1] = mark;
  if (trace.contains("measured") && trace["measured"]["samples"].contains("lines"))
    for (const nlohmann::json &entry : trace["measured"]["samples"]["lines"])
      notes.samples[entry[0].get<size_t>() - 1] =
          100 * entry[1].get<double>() / std::max(1.0, trace["measured"]["samples"]["inside"].get<double>());
  return notes;
}

std::string padded(const std::string &text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

void printHeading(const nlohmann::json &trace) {
  std::cout << trace["problem"].get<std::string>() << "\ntarget " << trace["target"].get<std::string>() << "  key "
            << trace["key"].get<std::string>() << "\n"
            << trace["plan"].get<std::string>() << "\n";
  if (!trace.contains("measured"))
    return;
  const nlohmann::json &measured = trace["measured"], &samples = measured["samples"];
  std::cout << formatNs(measured["minNs"]) << " (median " << formatNs(measured["medianNs"]) << "), one thread; ";
  if (samples.contains("whyNot"))
    std::cout << samples["whyNot"].get<std::string>() << "\n";
  else
    std::cout << samples["inside"] << " of " << samples["all"] << " samples of " << samples["event"].get<std::string>()
              << " in kernels\n";
}

/// Prints functions, labels and instructions, without data and directives.
void printCode(const nlohmann::json &trace, const nlohmann::json &assembly, const std::string &text,
               const AnnotateOptions &options) {
  const Notes notes = notesOf(trace, assembly, options.processor.empty() ? processorName() : options.processor);
  std::cout << "\nsamples  latency, cycles  mark\n";
  std::istringstream lines(text);
  size_t number = 0;
  bool isCode = false;
  for (std::string line; std::getline(lines, line) && number < notes.samples.size(); ++number) {
    if (line.starts_with("\t.text") || line.starts_with("\t.section"))
      isCode = line.starts_with("\t.text");
    const bool isInstruction = assembly["offsets"][number] >= 0;
    const bool isLabel = isCode && !line.starts_with("\t") && line.find(':') != std::string::npos;
    if (!isInstruction && !isLabel)
      continue;
    if (!notes.above[number].empty())
      std::cout << padded("", 33) << "# " << notes.above[number] << "\n";
    const double percent = notes.samples[number];
    std::cout << padded(percent > 0 && percent >= options.minPercent ? formatFixed(percent, 1) + " %" : "", 7) << "  "
              << padded(notes.cycles[number], 15) << "  " << padded(notes.marks[number], 9) << line << "\n";
  }
}

int annotate(const AnnotateOptions &options) {
  Result<std::string> line = options.given.read();
  Result<ParsedProblem> problem = line ? readProblem(*line, options.target) : Result<ParsedProblem>(line.takeError());
  if (!problem)
    return reportError(problem.error());
  Result<std::string> traced = compileTo(problem->text, problem->target.text(), quern_form_trace);
  if (!traced)
    return reportError(traced.error());
  nlohmann::json trace = nlohmann::json::parse(*traced);
  const nlohmann::json assembly = trace["stages"].back();
  if (!assembly.contains("offsets"))
    return reportError(unimplemented("'", problem->target.text(), "' has no listing of instructions to annotate"));
  const Result<void> measured = measureInto(trace, *problem);
  printHeading(trace);
  if (!measured)
    std::cout << "not measured: " << measured.error().message << "\n";
  printCode(trace, assembly, locatedStages(*traced)["assembly"], options);
  return exitOk;
}

} // namespace

void addAnnotateCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<AnnotateOptions>();
  Command command = program.subcommand("annotate", "Show the assembly with samples, a processor's cycles, and steps");
  options->given.addTo(command);
  command.option("--target", options->target, "An instruction set, as `quern devices` lists them, or native")
      .showDefault();
  command.option("--processor", options->processor,
                 "LLVM's name of the processor model (default: this machine's, else the first of the target)");
  command.option("--least", options->minPercent, "Minimum share of samples that is shown, in percent")
      .range(0.0, 100.0);
  command.callback([options, &exitCode] { exitCode = annotate(*options); });
}

} // namespace quern
