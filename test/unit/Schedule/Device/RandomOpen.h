//===- RandomOpen.h - Random maps and products of open sizes --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What only devices take, as text drawn from a seed: copies and elementwise ops whose extents, strides and
// offsets are known at execution, and products of matrices with M, N, K and leading dims known at execution,
// either factor transposed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H
#define QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H

#include "RandomRows.h"

namespace quern::test {

/// `execution`: 0, 1, …: other sizes for the same open text. The tolerance is 0: ops round in one way only.
OpenChain makeOpenMap(uint64_t seed, uint64_t execution);

/// The same of products. Sums of bytes are exact: their tolerance is 0, and an output of i32 counts as one of f32.
OpenChain makeOpenProduct(uint64_t seed, uint64_t execution);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H
