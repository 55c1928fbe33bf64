//===- Problem.cpp - One problem to be measured ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes, names and the one-line encoding of a problem of any primitive.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "ProblemKind.h"

#include "quern/quern.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
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
  // bytes() includes gaps between elements, so the size of appended data is the difference to a descriptor without it.
  TensorDesc plain = tensor;
  plain.extras = {};
  return tensor.paddedElements() * bitsOf(tensor.dataType) / 8 + tensor.bytes() - plain.bytes();
}

constexpr std::string_view modulePrefix = "mlir=";

std::string contentOf(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in || !content)
    throw std::runtime_error("cannot read " + path);
  return content.str();
}

/// Returns the text form of a function as the library reads it.
std::string textOf(const ModuleFunction &given) {
  const std::string bytes = contentOf(given.file);
  quern_engine_t engine = nullptr;
  quern_primitive_desc_t desc = nullptr;
  const char *text = nullptr;
  std::string result, message;
  if (quern_engine_create(&engine, quern_cpu, 0) == quern_success &&
      quern_primitive_desc_create_from_mlir(&desc, engine, bytes.data(), bytes.size(), given.function.c_str(),
                                            nullptr) == quern_success &&
      quern_primitive_desc_get_text(desc, &text) == quern_success)
    result = text;
  else
    message = quern_get_last_error_message();
  quern_primitive_desc_destroy(desc);
  quern_engine_destroy(engine);
  if (!message.empty())
    throw std::runtime_error(given.file + ":" + given.function + ": " + message);
  return result;
}

/// Parses "mlir=FILE:function"; returns an empty result for other lines.
ModuleFunction moduleOf(const std::string &line) {
  if (!line.starts_with(modulePrefix))
    return {};
  const size_t end = std::min(line.find(' '), line.size()), colon = line.rfind(':', end);
  if (colon == std::string::npos || colon + 1 >= end)
    throw std::runtime_error("no function is named: " + line);
  return {line.substr(modulePrefix.size(), colon - modulePrefix.size()), line.substr(colon + 1, end - colon - 1)};
}

} // namespace

BenchProblem BenchProblem::parse(const std::string &line) {
  ModuleFunction module = moduleOf(line);
  const size_t equals = line.find(" = ");
  const std::string equivalent =
      module.file.empty() || equals == std::string::npos ? std::string() : line.substr(equals + 3);
  Result<quern::PrimitiveDesc> desc = quern::PrimitiveDesc::parse(module.file.empty() ? line : textOf(module));
  if (!desc)
    throw std::runtime_error(desc.error().message);
  Result<VerifiedProblem> verified = verify(*desc, Target::host());
  if (!verified)
    throw std::runtime_error(verified.error().message);
  if (!kindOf(verified->desc))
    throw std::runtime_error("this primitive is not measured");
  return {line, std::move(*verified), std::move(module), equivalent};
}

const ProblemKind &BenchProblem::kind() const { return *kindOf(verified.desc); }

std::string BenchProblem::family() const { return kind().family(*this); }

std::string BenchProblem::group() const { return kind().group(*this); }

std::string BenchProblem::title() const { return kind().title(*this); }

int64_t BenchProblem::trafficBytes() const {
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

std::string BenchProblem::encode() const {
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

BenchProblem BenchProblem::decode(const std::string &text) {
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
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    line.resize(line.find_last_not_of(" \t\r") + 1);
    if (line.starts_with(modulePrefix) && line[modulePrefix.size()] != '/')
      line.insert(modulePrefix.size(), folder.string() + "/");
    if (!line.empty())
      lines.push_back(line);
  }
  return lines;
}

} // namespace quern::bench
