//===- SourcesProblem.cpp - Tables and bounds of sum and concat -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

/// Size of dst in bytes up to which the path to the kernel dominates the time.
constexpr int64_t tinyBytes = 4096;
constexpr double tinyExecuteNs = 250, codeKib = 16;
/// Bounds for a kernel of contiguous runs, and for one that transposes.
constexpr double lineCompileMs = 2, hardestCompileMs = 6;

/// Common parts of sum and concat.
struct Sources {
  const std::vector<TensorDesc> &srcs;
  const TensorDesc &dst;
  std::string parameter; ///< the operation's parameter in a title
};

Sources sourcesOf(const BenchProblem &problem) {
  const auto &op = problem.verified.desc.op;
  if (const SumDesc *sum = std::get_if<SumDesc>(&op))
    return {sum->srcs, sum->dst, std::to_string(sum->srcs.size()) + " of"};
  const ConcatDesc &concat = std::get<ConcatDesc>(op);
  return {concat.srcs, concat.dst,
          std::to_string(concat.srcs.size()) + " along " + std::to_string(concat.axis) + " to"};
}

bool isTiny(const Sources &sources) { return sources.dst.bytes() <= tinyBytes; }

class SourcesKind : public ProblemKind {
public:
  explicit SourcesKind(const char *word) : word(word) {}
  std::string name() const override { return word; }

  std::string family(const BenchProblem &problem) const override {
    const Sources sources = sourcesOf(problem);
    if (isTiny(sources))
      return "tiny";
    const bool isUniform = std::all_of(sources.srcs.begin(), sources.srcs.end(), [&](const TensorDesc &source) {
      return source.dataType == sources.dst.dataType && layoutName(source) == layoutName(sources.dst);
    });
    return isUniform ? "alike" : "mixed";
  }

  std::string group(const BenchProblem &) const override { return word; }

  std::string title(const BenchProblem &problem) const override {
    const Sources sources = sourcesOf(problem);
    const TensorDesc &first = sources.srcs.front();
    std::string text =
        typesName(first.dataType, sources.dst.dataType) + " " + sources.parameter + " " + join(sources.dst.shape());
    if (!isDense(sources.dst))
      text += " " + layoutName(sources.dst);
    return text;
  }

  nlohmann::json parameters(const BenchProblem &) const override { return nlohmann::json::object(); }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &plan) const override {
    const auto kernels = static_cast<double>(1 + std::count(plan.begin(), plan.end(), '|'));
    const bool isLine = plan.find("tiles") == std::string::npos;
    return {kernels * (isLine ? lineCompileMs : hardestCompileMs), isTiny(sourcesOf(problem)) ? tinyExecuteNs : 0,
            kernels * codeKib};
  }

private:
  const char *word;
};

} // namespace

const ProblemKind *sumKind() {
  static const SourcesKind kind("sum");
  return &kind;
}

const ProblemKind *concatKind() {
  static const SourcesKind kind("concat");
  return &kind;
}

} // namespace quern::bench
