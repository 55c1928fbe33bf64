//===- RandomRows.h - Random sums of bytes and rows of open sizes ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What RandomChain.h does not draw, as text from a seed: sums of bytes as words, in layouts that bring four of a row
// together and in others; chains whose dims and strides are known at execution only.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMROWS_H
#define QUERN_TEST_RECIPES_RANDOMROWS_H

#include "RandomChain.h"

namespace quern::test {

/// Words are exact: the tolerance is 0, and an output of i32 counts as one of f32.
RandomChain makeRandomByteSum(uint64_t seed);

/// A chain with dims and strides that are open, and the same with those of one execution.
struct OpenChain {
  RandomChain open, closed;
  std::vector<int64_t> sizes; ///< of the open ones, in the order of the kernel
};

/// `execution`: 0, 1, …: other sizes for the same open text.
OpenChain makeOpenChain(uint64_t seed, uint64_t execution);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMROWS_H
