//===- RandomLayout.cpp - Random strided memrefs for linalg ops -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RandomLayout.h"

#include <algorithm>
#include <numeric>

using namespace quern;
using namespace quern::test;

namespace {

struct Dim {
  int64_t extent = 0, stride = 0;
  std::string result;
};

/// Adds the dims of the blocks of one loop, outermost first; the digits are of the loop's index plus `shift`.
void appendDigits(std::vector<Dim> &dims, int loop, int64_t extent, const std::vector<int64_t> &units, int64_t shift) {
  std::string d = "d" + std::to_string(loop);
  if (shift)
    d = "(" + d + " + " + std::to_string(shift) + ")";
  extent += shift;
  if (units.empty())
    dims.push_back({extent, 0, d});
  for (size_t i = units.size(); i > 0; --i) {
    std::string digit = units[i - 1] == 1 ? d : d + " floordiv " + std::to_string(units[i - 1]);
    if (i == units.size()) {
      dims.push_back({(extent + units[i - 1] - 1) / units[i - 1], 0, digit});
      continue;
    }
    int64_t size = units[i] / units[i - 1];
    dims.push_back({size, 0, (units[i - 1] == 1 ? d : "(" + digit + ")") + " mod " + std::to_string(size)});
  }
}

} // namespace

const char *quern::test::nameOf(Element element) {
  const char *names[] = {"f32", "f64", "bf16", "f16", "i8", "i8"};
  return names[static_cast<int>(element)];
}

std::string quern::test::join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

RandomLayout quern::test::drawLayout(Dice &dice, const LayoutOdds &odds, Element element, const std::vector<int> &loops,
                                     const std::vector<int64_t> &extents, bool isOutput,
                                     const std::function<std::vector<int64_t>()> &unitsOf) {
  RandomLayout layout;
  std::vector<Dim> dims;
  for (int loop : loops) {
    std::vector<int64_t> units = unitsOf();
    layout.isBlocked |= !units.empty();
    int64_t shift = !units.empty() && dice.chance(odds.shifted) ? dice.pick(1, 2 * units.back()) : 0;
    layout.isShifted |= shift > 0;
    appendDigits(dims, loop, extents[loop], units, shift);
  }
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t(0));
  if (dice.chance(odds.shuffled))
    std::shuffle(order.begin(), order.end(), dice.random);
  bool gaps = dice.chance(odds.gaps);
  int64_t stride = gaps && dice.chance(30) ? dice.pick(2, 3) : 1, offset = dice.chance(25) ? dice.pick(1, 20) : 0;
  for (size_t at = order.size(); at-- > 0;) {
    Dim &dim = dims[order[at]];
    bool broadcast = !isOutput && dice.chance(odds.broadcast);
    layout.isBroadcast |= broadcast;
    dim.stride = broadcast ? 0 : stride;
    stride = broadcast ? stride : stride * dim.extent + (gaps ? dice.pick(0, 4) : 0);
  }
  std::string shape;
  std::vector<std::string> strides;
  layout.count = offset + 1;
  for (const Dim &dim : dims) {
    shape += std::to_string(dim.extent) + "x";
    strides.push_back(std::to_string(dim.stride));
    layout.count += (dim.extent - 1) * dim.stride;
    layout.results.push_back(dim.result);
  }
  layout.memref = "memref<" + shape + nameOf(element) + ", strided<[" + join(strides) +
                  "], offset: " + std::to_string(offset) + ">>";
  return layout;
}
