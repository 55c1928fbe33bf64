//===- Problem.cpp - One problem to be measured ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes, names and the one-line encoding of a problem, of whatever primitive.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "ProblemKind.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace quern::bench {

namespace {

constexpr std::string_view prefix = "problem ";

nlohmann::json describeTensor(const TensorDesc &tensor) {
  return {
      {"type", nameOf(tensor.dataType)}, {"dims", tensor.shape()}, {"dense", isDense(tensor)}, {"tag", tensor.tag()}};
}

nlohmann::json describePostOp(const PostOp &post) {
  nlohmann::json json = {
      {"kind", nameOf(post.kind)}, {"alg", nameOf(post.alg)}, {"alpha", post.alpha}, {"beta", post.beta}};
  if (post.kind == PostOp::Kind::Binary)
    json["src1"] = describeTensor(post.src1);
  return json;
}

nlohmann::json describeQuantization(const std::map<int32_t, QuantParams> &all) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto &[argument, params] : all)
    json[arg::nameOf(argument)] = {{"mask", params.mask}, {"type", nameOf(params.dataType)}, {"groups", params.groups}};
  return json;
}

bool readsOutputs(const Attributes &attributes) {
  return std::any_of(attributes.postOps.begin(), attributes.postOps.end(),
                     [](const PostOp &post) { return post.kind == PostOp::Kind::Sum; });
}

int64_t bytesWritten(const TensorDesc &tensor) {
  // bytes() has everything, the gaps between elements too: what is appended is the difference
  // to a descriptor without it.
  TensorDesc plain = tensor;
  plain.extras = {};
  return tensor.paddedElements() * bitsOf(tensor.dataType) / 8 + tensor.bytes() - plain.bytes();
}

} // namespace

Problem Problem::parse(const std::string &line) {
  Result<quern::PrimitiveDesc> desc = quern::PrimitiveDesc::parse(line);
  if (!desc)
    throw std::runtime_error(desc.error().message);
  Result<VerifiedProblem> verified = verify(*desc, Target::host());
  if (!verified)
    throw std::runtime_error(verified.error().message);
  if (!kindOf(verified->desc))
    throw std::runtime_error("this primitive is not measured");
  return {line, std::move(*verified)};
}

const ProblemKind &Problem::kind() const { return *kindOf(verified.desc); }

std::string Problem::family() const { return kind().family(*this); }

std::string Problem::group() const { return kind().group(*this); }

std::string Problem::title() const { return kind().title(*this); }

int64_t Problem::trafficBytes() const {
  int64_t bytes = 0;
  for (const ArgumentInfo &argument : verified.arguments) {
    int64_t elementBytes = argument.desc.elements() * bitsOf(argument.desc.dataType) / 8;
    if (!argument.isOutput || readsOutputs(verified.desc.attr))
      bytes += elementBytes;
    if (argument.isOutput)
      bytes += bytesWritten(argument.desc);
  }
  return bytes;
}

std::string Problem::encode() const {
  nlohmann::json tensors, postOps = nlohmann::json::array();
  for (const ArgumentInfo &argument : verified.arguments)
    tensors[argument.name] = describeTensor(argument.desc);
  for (const PostOp &post : verified.desc.attr.postOps)
    postOps.push_back(describePostOp(post));
  nlohmann::json json = {{"line", line},
                         {"primitive", kind().name()},
                         {"parameters", kind().parameters(*this)},
                         {"dims", verified.arguments.front().desc.shape()},
                         {"tensors", tensors},
                         {"scales", describeQuantization(verified.desc.attr.scales)},
                         {"zero_points", describeQuantization(verified.desc.attr.zeroPoints)},
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
