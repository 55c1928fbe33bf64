//===- ReorderProblem.cpp - Tables and bounds of reorder ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles are, for example, "f32 32x64x56x56 abcd→acdb", "f32→s8 1024x1024 + scales dst(2)", "… + zero points dst, sum",
// "… abcd→ABcd4b16a4b + compensation". They show the layouts if one is not dense row-major, and masks in parentheses.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr int64_t tinyBytes = 4096;
constexpr double tinyExecuteNs = 250, codeKib = 16;
/// Bounds for plans with runs of contiguous elements, for those with whole tiles without conversion, and for all other
/// plans.
constexpr double lineCompileMs = 2, cleanTileCompileMs = 4, hardestCompileMs = 6;

const ReorderDesc &reorderOf(const BenchProblem &problem) { return std::get<ReorderDesc>(problem.verified.desc.op); }

/// Returns true if a tensor has compensation or blocks over more than one dim, as weights of matrix products have.
bool isPackedWeights(const TensorDesc &tensor) {
  return tensor.extras.flags != 0 || std::any_of(tensor.innerIndices, tensor.innerIndices + tensor.innerBlockCount,
                                                 [&](int64_t dim) { return dim != tensor.innerIndices[0]; });
}

bool isTiny(const ReorderDesc &reorder) { return std::max(reorder.src.bytes(), reorder.dst.bytes()) <= tinyBytes; }

void appendQuantized(const std::map<int32_t, QuantParams> &all, const char *what, std::string &list) {
  for (const auto &[argument, params] : all) {
    list.append(list.empty() ? "" : ", ").append(what).append(" ").append(arg::nameOf(argument));
    if (params.mask != 0)
      list += "(" + std::to_string(params.mask) + (params.groups.empty() ? "" : " by " + join(params.groups)) + ")";
  }
}

class ReorderKind : public ProblemKind {
public:
  std::string name() const override { return "reorder"; }

  std::string family(const BenchProblem &problem) const override {
    const ReorderDesc &reorder = reorderOf(problem);
    const Attributes &attr = problem.verified.desc.attr;
    if (isTiny(reorder))
      return "tiny";
    if (std::min(bitsOf(reorder.src.dataType), bitsOf(reorder.dst.dataType)) < 8)
      return "sub-byte";
    if (isPackedWeights(reorder.src) || isPackedWeights(reorder.dst))
      return "weights";
    if (attr != Attributes())
      return "quantize";
    if (reorder.src.dataType != reorder.dst.dataType)
      return "convert";
    return reorder.src.isPlain() && reorder.dst.isPlain() ? "permute" : "blocked";
  }

  std::string group(const BenchProblem &) const override { return "reorder"; }

  std::string title(const BenchProblem &problem) const override {
    const ReorderDesc &reorder = reorderOf(problem);
    const Attributes &attr = problem.verified.desc.attr;
    std::string text = typesName(reorder.src.dataType, reorder.dst.dataType) + " " + join(reorder.src.shape());
    if (!isDense(reorder.src) || !reorder.src.sameLayout(reorder.dst))
      text += " " + layoutName(reorder.src);
    if (!reorder.src.sameLayout(reorder.dst))
      text += "→" + layoutName(reorder.dst);
    std::string attributes;
    if (reorder.dst.extras.flags != 0)
      attributes = "compensation";
    appendQuantized(attr.scales, "scales", attributes);
    appendQuantized(attr.zeroPoints, "zero points", attributes);
    appendPostOps(attr, attributes);
    return attributes.empty() ? text : text + " + " + attributes;
  }

  nlohmann::json parameters(const BenchProblem &) const override { return nlohmann::json::object(); }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &plan) const override {
    auto says = [&](const char *word) { return plan.find(word) != std::string::npos; };
    const ReorderDesc &reorder = reorderOf(problem);
    bool isSeveral = says(" | map:") || says(" | rows:"), isLine = says("lines") && !says("tiles") && !isSeveral;
    bool isCleanTile = says("tiles") && !isSeveral && !says("limit") && !says("columns through scratch") &&
                       reorder.src.dataType == reorder.dst.dataType && problem.verified.desc.attr == Attributes();
    double compileMs = isLine ? lineCompileMs : isCleanTile ? cleanTileCompileMs : hardestCompileMs;
    return {compileMs, isTiny(reorder) ? tinyExecuteNs : 0, codeKib};
  }
};

} // namespace

const ProblemKind *reorderKind() {
  static const ReorderKind kind;
  return &kind;
}

} // namespace quern::bench
