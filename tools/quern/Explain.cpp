//===- Explain.cpp - quern explain ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Explains how a problem is implemented: the chosen layouts, the implementation and the recipe's plan (tile, unrolling,
// sweeps); or why it is refused.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Json.h"
#include "Kernel.h"
#include "Output.h"
#include "Problem.h"

#include <iostream>

namespace quern {
namespace {

struct ExplainOptions {
  GivenProblem given;
  std::string target = "native";
  bool json = false;
};

std::string layoutOf(const TensorDesc &desc) {
  if (desc.isZero())
    return "none";
  if (std::string tag = desc.tag(); !tag.empty())
    return tag;
  std::string text = "strides ";
  for (int dim = 0; dim < desc.ndims; ++dim)
    text += (dim ? "x" : "") + (desc.strides[dim] == runtimeDim ? "?" : std::to_string(desc.strides[dim]));
  for (int block = 0; block < desc.innerBlockCount; ++block)
    text += (block ? "" : ", blocks ") + std::to_string(desc.innerBlocks[block]) +
            static_cast<char>('a' + desc.innerIndices[block]);
  return text;
}

/// Returns the reason for a tensor's layout. For `any`, dst, diff_dst and diff_src get the order of dims of another
/// tensor; other tensors are row-major or packed.
const char *layoutReason(const ParsedProblem &problem, const ArgumentInfo &argument) {
  if (!problem.wasAny(argument.name))
    return "given";
  if (argument.name == "dst")
    return "chosen for `any`: src's order of dims, dense";
  if (argument.name == "diff_dst")
    return "chosen for `any`: dst's order of dims, dense";
  if (argument.name == "diff_src")
    return "chosen for `any`: diff_dst's order of dims, dense";
  return argument.desc.isPlain() ? "chosen for `any`: row-major, dense" : "chosen for `any`: packed for the target";
}

void printAsText(const ParsedProblem &problem, const std::string &target, const std::string &plan) {
  std::cout << "problem         " << problem.desc().title() << "\ntarget          " << target << "\nimplementation  "
            << problem.verified.implementation << "\nplan            " << plan << "\ntensors\n";
  Table table({"  name", ">argument", "type", ">size", "use", "layout", "which was"});
  for (const ArgumentInfo &argument : problem.verified.arguments)
    table.addRow({"  " + argument.name, std::to_string(argument.index), std::string(nameOf(argument.desc.dataType)),
                  argument.desc.hasRuntimeDims() ? "at run time" : formatBytes(argument.desc.bytes()),
                  argument.isOutput ? "written" : "read", layoutOf(argument.desc), layoutReason(problem, argument)});
  table.print(std::cout);
}

void printAsJson(const ParsedProblem &problem, const std::string &target, const std::string &plan) {
  Json json{{"problem", problem.text},
            {"target", target},
            {"implementation", problem.verified.implementation},
            {"plan", plan},
            {"tensors", Json::array()}};
  for (const ArgumentInfo &argument : problem.verified.arguments)
    json["tensors"].push_back({{"name", argument.name},
                               {"argument", argument.index},
                               {"type", nameOf(argument.desc.dataType)},
                               {"layout", layoutOf(argument.desc)},
                               {"layout_was", layoutReason(problem, argument)},
                               {"bytes", argument.desc.hasRuntimeDims() ? Json(nullptr) : Json(argument.desc.bytes())},
                               {"is_output", argument.isOutput}});
  printJson(json);
}

int explainProblem(const ExplainOptions &options) {
  Result<std::string> line = options.given.read();
  Result<ParsedProblem> problem = line ? readProblem(*line, options.target) : Result<ParsedProblem>(line.takeError());
  if (!problem)
    return reportError(problem.error());
  Result<std::string> plan = std::string("nothing to run: the tensors are empty");
  if (!problem->verified.isNoop)
    plan = explain(problem->text, problem->target.text());
  if (!plan)
    return reportError(plan.error());
  while (plan->ends_with('\n'))
    plan->pop_back();
  options.json ? printAsJson(*problem, problem->target.text(), *plan)
               : printAsText(*problem, problem->target.text(), *plan);
  return exitOk;
}

} // namespace

void addExplainCommand(Command &program, int &exitCode) {
  auto options = std::make_shared<ExplainOptions>();
  Command command = program.subcommand("explain", "Explain how a problem is scheduled, or why it is refused");
  options->given.addTo(command);
  command
      .option("--target", options->target,
              "An instruction set, as `quern devices` lists them, native, or spirv64 with a device's limits")
      .showDefault();
  command.flag("--json", options->json, "Print JSON");
  command.callback([options, &exitCode] { exitCode = explainProblem(*options); });
}

} // namespace quern
