//===- MlirProblem.cpp - Tables and bounds of functions in MLIR -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A title, such as "layer_norm f32 1024x768", has the function's name, and the type and shape of its first argument.
// Python peers run the function of the same name in the file of the same name with the suffix .py.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr double codeKib = 64, compileMs = 80;

class MlirKind : public ProblemKind {
public:
  std::string name() const override { return "mlir"; }

  std::string family(const BenchProblem &problem) const override {
    return std::filesystem::path(problem.module.file).stem().string();
  }

  std::string group(const BenchProblem &) const override { return "mlir"; }

  std::string title(const BenchProblem &problem) const override {
    const TensorDesc &first = problem.verified.arguments.front().desc;
    return problem.module.function + " " + typesName(first.dataType, first.dataType) + " " + join(first.shape());
  }

  nlohmann::json parameters(const BenchProblem &problem) const override {
    nlohmann::json inputs = nlohmann::json::array();
    for (const ArgumentInfo &argument : problem.verified.arguments)
      if (argument.index < arg::multipleDst)
        inputs.push_back(argument.name);
    return {{"module", problem.module.file},
            {"function", problem.module.function},
            {"description", std::filesystem::path(problem.module.file).replace_extension(".py").string()},
            {"inputs", inputs}};
  }

  PromisedBounds bounds(const BenchProblem &, const std::string &) const override { return {compileMs, 0, codeKib}; }
};

} // namespace

const ProblemKind *mlirKind() {
  static const MlirKind kind;
  return &kind;
}

} // namespace quern::bench
