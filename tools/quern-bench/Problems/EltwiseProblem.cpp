//===- EltwiseProblem.cpp - Tables and bounds of eltwise ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles are, for example, "relu bf16 32x64x56x56", "gelu_tanh backward f32 8x128x768 acb", "linear f32→s8 4096x4096 +
// add". They show the layouts if one is not dense row-major.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr int64_t tinyBytes = 4096;
constexpr double tinyExecuteNs = 250, codeKib = 16, compileMs = 6;

const EltwiseDesc &eltwiseOf(const BenchProblem &problem) { return std::get<EltwiseDesc>(problem.verified.desc.op); }

const TensorDesc &inputOf(const EltwiseDesc &eltwise) {
  return isForward(eltwise.prop) ? eltwise.src : eltwise.diffDst;
}
const TensorDesc &outputOf(const EltwiseDesc &eltwise) {
  return isForward(eltwise.prop) ? eltwise.dst : eltwise.diffSrc;
}

bool isTiny(const EltwiseDesc &eltwise) {
  return std::max(inputOf(eltwise).bytes(), outputOf(eltwise).bytes()) <= tinyBytes;
}

class EltwiseKind : public ProblemKind {
public:
  std::string name() const override { return "eltwise"; }

  std::string family(const BenchProblem &problem) const override {
    const EltwiseDesc &eltwise = eltwiseOf(problem);
    if (isTiny(eltwise))
      return "tiny";
    return isForward(eltwise.prop) ? "forward" : "backward";
  }

  std::string group(const BenchProblem &) const override { return "eltwise"; }

  std::string title(const BenchProblem &problem) const override {
    const EltwiseDesc &eltwise = eltwiseOf(problem);
    const TensorDesc &from = inputOf(eltwise), &to = outputOf(eltwise);
    std::string text(nameOf(eltwise.alg).substr(sizeof("eltwise_") - 1));
    text +=
        (isForward(eltwise.prop) ? " " : " backward ") + typesName(from.dataType, to.dataType) + " " + join(to.shape());
    if (!isDense(from) || !from.sameLayout(to))
      text += " " + layoutName(from);
    if (!from.sameLayout(to))
      text += "→" + layoutName(to);
    std::string attributes;
    appendPostOps(problem.verified.desc.attr, attributes);
    return attributes.empty() ? text : text + " + " + attributes;
  }

  nlohmann::json parameters(const BenchProblem &problem) const override {
    const EltwiseDesc &eltwise = eltwiseOf(problem);
    return {{"alg", nameOf(eltwise.alg)},
            {"alpha", eltwise.alpha},
            {"beta", eltwise.beta},
            {"forward", isForward(eltwise.prop)}};
  }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &) const override {
    return {compileMs, isTiny(eltwiseOf(problem)) ? tinyExecuteNs : 0, codeKib};
  }
};

} // namespace

const ProblemKind *eltwiseKind() {
  static const EltwiseKind kind;
  return &kind;
}

} // namespace quern::bench
