//===- RandomMap.h - Random elementwise linalg ops ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op as text, drawn from a seed: a copy or conversion of a source, with other operands along some of
// the loops, on arguments with random permutation, gaps, offset, broadcast and blocks (nested or not, dividing or not).
// Sometimes the destination is filled with zeros first. Every op is exact or has one correct rounding, so
// results can be compared bit by bit.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMMAP_H
#define QUERN_TEST_RECIPES_RANDOMMAP_H

#include "RandomChain.h"

namespace quern::test {

struct RandomMap {
  std::string text; ///< a module with one function, @map
  std::vector<ChainArgument> arguments;
};

RandomMap makeRandomMap(uint64_t seed);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMMAP_H
