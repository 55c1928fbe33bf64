//===- RandomContraction.h - Random products with elementwise ops ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem as text, drawn from a seed: one or two products into sums of one to four gates, with rows, columns and K of
// any length; factors of any type, plain or packed (including packed elements along K, which K may not fill); sums that
// start as zero, a bias or old values; and an epilogue from no op to functions over several gates. Results stay within
// a few units.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMCONTRACTION_H
#define QUERN_TEST_RECIPES_RANDOMCONTRACTION_H

#include "RandomChain.h"

namespace quern::test {

struct RandomContraction {
  std::string text; ///< a module with one function, @contraction
  std::vector<ChainArgument> arguments;
  double tolerance = 0; ///< absolute, for every output
  /// The same problem with an open number of rows; empty if rows are not outermost. All open sizes are `rows`.
  std::string openText;
  int64_t rows = 0;
};

RandomContraction makeRandomContraction(uint64_t seed);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMCONTRACTION_H
