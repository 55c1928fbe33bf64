//===- RandomRows.h - Random sums of bytes and open rows ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems that RandomChain.h does not draw, as text from a seed: sums of bytes as 32-bit words, in layouts with four
// contiguous elements of a row and in others; chains with open dims and strides.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMROWS_H
#define QUERN_TEST_RECIPES_RANDOMROWS_H

#include "RandomChain.h"

namespace quern::test {

/// Words are exact: the tolerance is 0, and an i32 output counts as f32.
RandomChain makeRandomByteSum(uint64_t seed);

/// A chain with open dims and strides, and the same chain with the sizes of one execution.
struct OpenChain {
  RandomChain open, closed;
  std::vector<int64_t> sizes; ///< open sizes, in the order of the kernel
};

/// `execution` 0, 1, …: other sizes for the same open text.
OpenChain makeOpenChain(uint64_t seed, uint64_t execution);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMROWS_H
