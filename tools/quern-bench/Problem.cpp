//===- Problem.cpp - One problem to be measured ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes, names and the one-line encoding of a problem.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace quern::bench {

namespace {

std::string join(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

std::vector<int64_t> split(const std::string &text) {
  std::vector<int64_t> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');)
    values.push_back(std::stoll(part));
  return values;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return strides;
}

} // namespace

int64_t Tensor::elementBytes() const { return type == "f64" ? 8 : type == "f32" ? 4 : 2; }

int64_t Problem::elements() const { return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>()); }

int64_t Problem::bytesOf(const Tensor &tensor) const {
  int64_t last = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    last += (dims[d] - 1) * tensor.strides[d];
  return (last + 1) * tensor.elementBytes();
}

std::string Problem::family() const {
  if (src.elementBytes() < 4 || dst.elementBytes() < 4)
    return "narrow types";
  if (algorithm == "softmax_log")
    return "log";
  return src.strides[axis] == 1 ? "last axis" : "strided axis";
}

std::string Problem::title() const {
  std::string text = src.type;
  if (src.type != dst.type)
    text += "→" + dst.type;
  if (algorithm != "softmax_accurate")
    text += " " + algorithm.substr(sizeof("softmax_") - 1);
  text += " " + join(dims);
  if (axis + 1 != static_cast<int>(dims.size()))
    text += " axis " + std::to_string(axis);
  std::vector<int64_t> dense = denseStrides(dims);
  if (src.strides != dense)
    text += " src " + join(src.strides);
  if (dst.strides != dense)
    text += " dst " + join(dst.strides);
  return text;
}

std::string Problem::encode() const {
  return "problem " + algorithm + " " + std::to_string(axis) + " " + join(dims) + " " + src.type + " " + join(src.strides) + " " +
         dst.type + " " + join(dst.strides) + " " + line;
}

Problem Problem::decode(const std::string &text) {
  std::istringstream in(text);
  Problem problem;
  std::string word, dims, srcStrides, dstStrides;
  in >> word >> problem.algorithm >> problem.axis >> dims >> problem.src.type >> srcStrides >> problem.dst.type >> dstStrides >> std::ws;
  std::getline(in, problem.line);
  if (!in || word != "problem")
    throw std::runtime_error("not a problem: " + text);
  problem.dims = split(dims);
  problem.src.strides = split(srcStrides);
  problem.dst.strides = split(dstStrides);
  return problem;
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
