//===- RandomChain.h - Random chains of linalg ops along rows -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A chain as text, drawn from a seed: elementwise, per-row and reducing ops in random order over one space, on
// arguments with random type, permutation, gaps, offset, broadcast and blocks (nested, or not dividing the extent).
// Every computed value is in [-1, 1] (or is a sum of such values divided by their number), so that results depend
// smoothly on rounding and two evaluations can be compared.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMCHAIN_H
#define QUERN_TEST_RECIPES_RANDOMCHAIN_H

#include "RandomLayout.h"

namespace quern::test {

int64_t bytesOf(Element element);
double loadElement(const char *buffer, int64_t index, Element element);
/// Stores the value, rounded to nearest.
void storeElement(char *buffer, int64_t index, Element element, double value);

struct ChainArgument {
  Element element = Element::F32;
  int64_t count = 0; ///< elements of the buffer, including gaps and offset
  bool isOutput = false;
  int aliasOf = -1; ///< input with the same type and layout, which may share the buffer; -1: none
};

struct RandomChain {
  std::string text; ///< a module with one function, @chain
  std::vector<ChainArgument> arguments;
  double tolerance = 0; ///< absolute, for every output
};

RandomChain makeRandomChain(uint64_t seed);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMCHAIN_H
