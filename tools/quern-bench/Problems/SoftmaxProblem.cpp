//===- SoftmaxProblem.cpp - Tables and bounds of softmax ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Titles are, for example, "f32 1024x1000", "bf16→f32 log 16x50257", "f32 1x21x512x512 axis 1", "bwd f32 …",
// "… aBcd16b", "… + relu, add". They show layouts that are not dense row-major.
//
//===----------------------------------------------------------------------===//
#include "ProblemKind.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr int64_t longestShortAxis = 64;
/// Every post-op adds code.
constexpr double compileBoundMs = 6, compileBoundManyPostOpsMs = 10;

const SoftmaxDesc &softmaxOf(const BenchProblem &problem) { return std::get<SoftmaxDesc>(problem.verified.desc.op); }

bool isBackward(const BenchProblem &problem) { return !isForward(softmaxOf(problem).prop); }

/// Returns the tensors of the operation itself, in the order of the arguments.
std::vector<const TensorDesc *> tensorsOf(const SoftmaxDesc &softmax) {
  if (isForward(softmax.prop))
    return {&softmax.src, &softmax.dst};
  return {&softmax.dst, &softmax.diffDst, &softmax.diffSrc};
}

class SoftmaxKind : public ProblemKind {
public:
  std::string name() const override { return "softmax"; }

  std::string family(const BenchProblem &problem) const override {
    const SoftmaxDesc &softmax = softmaxOf(problem);
    const Attributes &attr = problem.verified.desc.attr;
    std::vector<const TensorDesc *> tensors = tensorsOf(softmax);
    auto any = [&](auto holds) {
      return std::any_of(tensors.begin(), tensors.end(), [&](const TensorDesc *t) { return holds(*t); });
    };
    const TensorDesc &first = *tensors.front();
    if (isBackward(problem))
      return "backward";
    if (!attr.scales.empty() || !attr.postOps.empty())
      return "attributes";
    if (any([&](const TensorDesc &t) { return !t.isPlain() || !t.sameLayout(first); }))
      return "layouts";
    if (any([](const TensorDesc &t) { return bitsOf(t.dataType) < 32; }))
      return "types";
    if (softmax.alg == Alg::SoftmaxLog)
      return "log";
    if (first.strides[softmax.axis] != 1)
      return "strided axis";
    return first.dims[softmax.axis] <= longestShortAxis ? "short axis" : "last axis";
  }

  std::string group(const BenchProblem &problem) const override { return isBackward(problem) ? "backward" : "forward"; }

  std::string title(const BenchProblem &problem) const override {
    const SoftmaxDesc &softmax = softmaxOf(problem);
    std::vector<const TensorDesc *> tensors = tensorsOf(softmax);
    const TensorDesc &first = *tensors.front(), &last = *tensors.back();
    std::string text = isBackward(problem) ? "bwd " : "";
    text += typesName(first.dataType, last.dataType);
    if (softmax.alg != Alg::SoftmaxAccurate)
      text.append(" ").append(nameOf(softmax.alg).substr(sizeof("softmax_") - 1));
    text += " " + join(first.shape());
    if (softmax.axis + 1 != first.ndims)
      text += " axis " + std::to_string(softmax.axis);
    if (!isDense(first))
      text += " " + layoutName(first);
    if (!last.sameLayout(first))
      text += "→" + layoutName(last);
    std::string attributes = problem.verified.desc.attr.scales.empty() ? "" : "scales";
    appendPostOps(problem.verified.desc.attr, attributes);
    return attributes.empty() ? text : text + " + " + attributes;
  }

  nlohmann::json parameters(const BenchProblem &problem) const override {
    const SoftmaxDesc &softmax = softmaxOf(problem);
    return {{"backward", isBackward(problem)}, {"algorithm", nameOf(softmax.alg)}, {"axis", softmax.axis}};
  }

  PromisedBounds bounds(const BenchProblem &problem, const std::string &) const override {
    return {problem.verified.desc.attr.postOps.size() > 4 ? compileBoundManyPostOpsMs : compileBoundMs};
  }
};

} // namespace

const ProblemKind *softmaxKind() {
  static const SoftmaxKind kind;
  return &kind;
}

} // namespace quern::bench
