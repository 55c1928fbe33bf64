//===- BinaryProblem.cpp - Tables and bounds of binary --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles are, for example, "add f32 32x64x56x56", "mul f32 32x64x56x56 with 1x64x1x1 acdb", "max s8→f32 1024x1024 +
// scales src, relu". They show layouts that are not dense row-major.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr int64_t tinyBytes = 4096;
constexpr double tinyExecuteNs = 250, codeKib = 16;
constexpr double lineCompileMs = 3, hardestCompileMs = 6;

const BinaryDesc &binaryOf(const BenchProblem &problem) { return std::get<BinaryDesc>(problem.verified.desc.op); }

bool isTiny(const BinaryDesc &binary) {
  return std::max({binary.src.bytes(), binary.src1.bytes(), binary.dst.bytes()}) <= tinyBytes;
}

class BinaryKind : public ProblemKind {
public:
  std::string name() const override { return "binary"; }

  std::string family(const BenchProblem &problem) const override {
    const BinaryDesc &binary = binaryOf(problem);
    if (isTiny(binary))
      return "tiny";
    if (!binary.src.sameShape(binary.src1))
      return "broadcast";
    bool isOneLayout = binary.src.samePlaces(binary.src1) && binary.src.samePlaces(binary.dst);
    return isOneLayout ? "same shape" : "mixed layouts";
  }

  std::string group(const BenchProblem &) const override { return "binary"; }

  std::string title(const BenchProblem &problem) const override {
    const BinaryDesc &binary = binaryOf(problem);
    std::string alg(nameOf(binary.alg));
    std::string text = alg.substr(alg.find('_') + 1) + " " + typesName(binary.src.dataType, binary.dst.dataType) + " " +
                       join(binary.dst.shape());
    if (!isDense(binary.dst))
      text += " " + layoutName(binary.dst);
    if (!binary.src.sameShape(binary.dst))
      text += " of " + join(binary.src.shape());
    else if (!binary.src.samePlaces(binary.dst))
      text += " from " + layoutName(binary.src);
    if (!binary.src1.sameShape(binary.dst))
      text += " with " + join(binary.src1.shape());
    else if (!binary.src1.samePlaces(binary.dst))
      text += " with " + layoutName(binary.src1);
    std::string attributes;
    const Attributes &attr = problem.verified.desc.attr;
    for (const auto &[argument, params] : attr.scales)
      attributes += (attributes.empty() ? "scales " : ", ") + arg::nameOf(argument);
    appendPostOps(attr, attributes);
    return attributes.empty() ? text : text + " + " + attributes;
  }

  nlohmann::json parameters(const BenchProblem &problem) const override {
    return {{"algorithm", std::string(nameOf(binaryOf(problem).alg))}};
  }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &plan) const override {
    bool isLine = plan.find("lines") != std::string::npos && plan.find(" | ") == std::string::npos;
    return {isLine ? lineCompileMs : hardestCompileMs, isTiny(binaryOf(problem)) ? tinyExecuteNs : 0, codeKib};
  }
};

} // namespace

const ProblemKind *binaryKind() {
  static const BinaryKind kind;
  return &kind;
}

} // namespace quern::bench
