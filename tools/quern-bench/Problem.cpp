//===- Problem.cpp - One problem to be measured ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes, names and the one-line encoding of a problem.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "Desc/Target.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace quern::bench {

namespace {

constexpr std::string_view prefix = "problem ";
constexpr int64_t longestShortAxis = 64;

/// The tensors of the operation itself, in the order of the arguments.
std::vector<const TensorDesc *> tensorsOf(const SoftmaxDesc &softmax) {
  if (isForward(softmax.prop))
    return {&softmax.src, &softmax.dst};
  return {&softmax.dst, &softmax.diffDst, &softmax.diffSrc};
}

bool isDense(const TensorDesc &tensor) {
  Result<TensorDesc> dense = TensorDesc::dense(tensor.shape(), tensor.dataType);
  return dense && tensor == *dense;
}

std::string join(std::span<const int64_t> values, const char *separator = "x") {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : separator) + std::to_string(value);
  return text;
}

std::string layoutName(const TensorDesc &tensor) {
  std::string tag = tensor.tag();
  return !tag.empty() ? tag : "s" + join(tensor.outerStrides());
}

/// "relu", "add", "scales", in order.
std::string describeAttributes(const Attributes &attributes) {
  std::string text = attributes.scales.empty() ? "" : "scales";
  for (const PostOp &post : attributes.postOps) {
    std::string_view name = nameOf(post.alg);
    name.remove_prefix(name.find('_') + 1);
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

nlohmann::json describePostOp(const PostOp &post) {
  nlohmann::json json = {{"kind", nameOf(post.kind)}, {"alg", nameOf(post.alg)}, {"alpha", post.alpha}, {"beta", post.beta}};
  if (post.kind == PostOp::Kind::Binary)
    json["src1"] = {{"type", nameOf(post.src1.dataType)}, {"dims", post.src1.shape()}};
  return json;
}

} // namespace

Problem Problem::parse(const std::string &line) {
  Result<quern::PrimitiveDesc> desc = quern::PrimitiveDesc::parse(line);
  if (!desc)
    throw std::runtime_error(desc.error().message);
  Result<VerifiedProblem> verified = verify(*desc, Target::host());
  if (!verified)
    throw std::runtime_error(verified.error().message);
  if (!std::holds_alternative<SoftmaxDesc>(verified->desc.op))
    throw std::runtime_error("only softmax is measured");
  return {line, std::move(*verified)};
}

int64_t Problem::trafficBytes() const {
  int64_t bytes = 0;
  for (const ArgumentInfo &argument : verified.arguments)
    bytes += argument.desc.elements() * bitsOf(argument.desc.dataType) / 8;
  return bytes;
}

std::string Problem::family() const {
  std::vector<const TensorDesc *> tensors = tensorsOf(softmax());
  auto any = [&](auto holds) { return std::any_of(tensors.begin(), tensors.end(), [&](const TensorDesc *t) { return holds(*t); }); };
  const TensorDesc &first = *tensors.front();
  if (isBackward())
    return "backward";
  if (!verified.desc.attr.scales.empty() || !verified.desc.attr.postOps.empty())
    return "attributes";
  if (any([&](const TensorDesc &t) { return !t.isPlain() || !t.sameLayout(first); }))
    return "layouts";
  if (any([](const TensorDesc &t) { return bitsOf(t.dataType) < 32; }))
    return "types";
  if (softmax().alg == Alg::SoftmaxLog)
    return "log";
  if (first.strides[softmax().axis] != 1)
    return "strided axis";
  return first.dims[softmax().axis] <= longestShortAxis ? "short axis" : "last axis";
}

std::string Problem::title() const {
  std::vector<const TensorDesc *> tensors = tensorsOf(softmax());
  const TensorDesc &first = *tensors.front(), &last = *tensors.back();
  std::string text = isBackward() ? "bwd " : "";
  text += nameOf(first.dataType);
  if (first.dataType != last.dataType)
    text.append("→").append(nameOf(last.dataType));
  if (softmax().alg != Alg::SoftmaxAccurate)
    text.append(" ").append(nameOf(softmax().alg).substr(sizeof("softmax_") - 1));
  text += " " + join(first.shape());
  if (softmax().axis + 1 != first.ndims)
    text += " axis " + std::to_string(softmax().axis);
  if (!isDense(first))
    text += " " + layoutName(first);
  if (!last.sameLayout(first))
    text += "→" + layoutName(last);
  std::string attributes = describeAttributes(verified.desc.attr);
  return attributes.empty() ? text : text + " + " + attributes;
}

std::string Problem::encode() const {
  nlohmann::json tensors, postOps = nlohmann::json::array(), scales = nlohmann::json::array();
  for (const ArgumentInfo &argument : verified.arguments)
    tensors[argument.name] = {{"type", nameOf(argument.desc.dataType)}, {"dense", isDense(argument.desc)}};
  for (const PostOp &post : verified.desc.attr.postOps)
    postOps.push_back(describePostOp(post));
  for (const ArgumentInfo &argument : verified.arguments)
    if (argument.name.starts_with("scales."))
      scales.push_back(argument.name);
  nlohmann::json json = {{"line", line},
                         {"backward", isBackward()},
                         {"algorithm", nameOf(softmax().alg)},
                         {"axis", softmax().axis},
                         {"dims", tensorsOf(softmax()).front()->shape()},
                         {"tensors", tensors},
                         {"scales", scales},
                         {"post_ops", postOps}};
  return std::string(prefix) + json.dump();
}

Problem Problem::decode(const std::string &text) {
  nlohmann::json json;
  if (text.starts_with(prefix))
    json = nlohmann::json::parse(text.begin() + prefix.size(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("line") || !json["line"].is_string())
    throw std::runtime_error("not a problem: " + text);
  return parse(json["line"]);
}

std::vector<std::string> readProblemFile(const std::string &path) {
  std::ifstream in(path);
  if (!in)
    throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    line.resize(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty())
      lines.push_back(line);
  }
  return lines;
}

} // namespace quern::bench
