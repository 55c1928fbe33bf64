//===- RnnProblem.cpp - Tables and bounds of RNNs -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include "Primitives/Rnn/Shape.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

/// Number of channels up to which the path to the kernel dominates the time of a step.
constexpr int64_t tinyChannels = 32;
constexpr double tinyStepNs = 1000;
/// Bounds of the compilation of forward, of backward, which has twice the products, and of the code of each kernel.
constexpr double cellCompileMs = 12, backwardCompileMs = 23, codeKib = 48;

const RnnDesc &descOf(const BenchProblem &problem) { return std::get<Boxed<RnnDesc>>(problem.verified.desc.op); }

bool hasFpmath(const BenchProblem &problem) { return problem.verified.desc.attr.fpmathMode != FpmathMode::Strict; }

/// Returns the suffix of families and groups; empty for inference.
std::string passOf(const RnnDesc &rnn) {
  return rnn.prop == PropKind::Backward ? " backward" : rnn.prop == PropKind::ForwardTraining ? " training" : "";
}

class RnnKind : public ProblemKind {
public:
  std::string name() const override { return "rnn"; }

  /// Returns the cell, the pass and the range of the batch: "lstm, batch 1", "gru backward, batch below 16".
  std::string family(const BenchProblem &problem) const override {
    const RnnDesc &rnn = descOf(problem);
    std::string text = concat(nameOf(rnn.cell), passOf(rnn));
    text += rnn.srcLayer.dims[1] == 1   ? ", batch 1"
            : rnn.srcLayer.dims[1] < 16 ? ", batch below 16"
                                        : ", batch 16 and more";
    return hasFpmath(problem) ? text + ", fpmath" : text;
  }

  std::string group(const BenchProblem &problem) const override {
    return concat("rnn", passOf(descOf(problem)), hasFpmath(problem) ? " with fpmath" : "");
  }

  std::string title(const BenchProblem &problem) const override {
    const RnnDesc &rnn = descOf(problem);
    const rnn::Shape s = rnn::Shape::of(rnn);
    std::string text =
        typesName(rnn.srcLayer.dataType, rnn.dstLayer.dataType).append(" ").append(nameOf(rnn.cell)) + passOf(rnn);
    text += " L" + std::to_string(s.layers) + (s.directions == 2 ? " bidirectional" : "") + " T" +
            std::to_string(s.steps) + " N" + std::to_string(s.batch) + " " + std::to_string(s.slc) + "→" +
            std::to_string(s.dhc);
    if (s.dic != s.dhc)
      text += "→" + std::to_string(s.dic);
    if (!rnn.weightsPeephole.isZero())
      text += " peephole";
    if (rnn.weightsLayer.isPlain())
      text += " " + layoutName(rnn.weightsLayer);
    if (hasFpmath(problem))
      text.append(" fpmath ").append(nameOf(problem.verified.desc.attr.fpmathMode));
    return text;
  }

  nlohmann::json parameters(const BenchProblem &problem) const override {
    const RnnDesc &rnn = descOf(problem);
    return {{"cell", nameOf(rnn.cell)},
            {"direction", nameOf(rnn.direction)},
            {"prop", nameOf(rnn.prop)},
            {"activation", nameOf(rnn.activation)},
            {"fpmath", nameOf(problem.verified.desc.attr.fpmathMode)}};
  }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &plan) const override {
    const rnn::Shape s = rnn::Shape::of(descOf(problem));
    const auto kernels = static_cast<double>(1 + std::count(plan.begin(), plan.end(), '|'));
    const bool isTiny = s.dhc <= tinyChannels && s.slc <= tinyChannels && s.batch == 1;
    const bool isBackward = descOf(problem).prop == PropKind::Backward;
    return {isBackward ? backwardCompileMs : cellCompileMs,
            isTiny && !isBackward ? tinyStepNs * static_cast<double>(s.steps * s.layers * s.directions) : 0,
            kernels * codeKib};
  }
};

} // namespace

const ProblemKind *rnnKind() {
  static const RnnKind kind;
  return &kind;
}

} // namespace quern::bench
