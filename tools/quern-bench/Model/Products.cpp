//===- Products.cpp - AArch64 instructions that multiply and add ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Model/Products.h"

#include <map>
#include <sstream>

namespace quern::bench {

namespace {

/// Number of products that are added to one element of the result. Instructions that widen halves only multiply; other
/// instructions add their products.
const std::map<std::string, int> &productsOfElement() {
  static const std::map<std::string, int> products = {
      {"fmla", 1},    {"fmls", 1},   {"fmad", 1},   {"fmsb", 1},   {"fmadd", 1}, {"mla", 1},   {"mad", 1},
      {"smull", 1},   {"umull", 1},  {"smull2", 1}, {"umull2", 1}, {"smlal", 1}, {"umlal", 1}, {"smlal2", 1},
      {"fmlal", 1},   {"bfdot", 2},  {"sdot", 4},   {"udot", 4},   {"usdot", 4}, {"sudot", 4}, {"bfmlalb", 1},
      {"bfmlalt", 1}, {"bfmmla", 4}, {"smmla", 8},  {"ummla", 8},  {"usmmla", 8}};
  return products;
}

double bitsOf(char element) {
  switch (element) {
  case 'b':
    return 8;
  case 'h':
    return 16;
  case 'd':
    return 64;
  default:
    return 32;
  }
}

/// Returns the number of elements of the first operand: v0.4s, z0.s, s0.
double elementsOf(const std::string &reg, const std::string &target) {
  const size_t dot = reg.find('.');
  if (dot == std::string::npos)
    return 1;
  if (reg[0] == 'v')
    return std::stod(reg.substr(dot + 1));
  const size_t length = target.find("vl=");
  return length == std::string::npos ? 0 : std::stod(target.substr(length + 3)) / bitsOf(reg[dot + 1]);
}

} // namespace

std::optional<ModelProduct> productOf(const std::string &line, const std::string &target) {
  std::istringstream words(line);
  std::string instruction, reg;
  words >> instruction >> reg;
  const auto found = productsOfElement().find(instruction);
  if (found == productsOfElement().end() || reg.empty() || std::string("vzsdh").find(reg[0]) == std::string::npos)
    return std::nullopt;
  return ModelProduct{instruction, 2 * found->second * elementsOf(reg, target)};
}

} // namespace quern::bench
