//===- RandomOpen.h - Random maps and products with open sizes ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems that only devices support, as text drawn from a seed: copies and elementwise ops with open extents, strides
// and offsets, and products of matrices with open M, N, K and leading dims, with either factor transposed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H
#define QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H

#include "RandomRows.h"

namespace quern::test {

/// `execution` 0, 1, …: other sizes for the same open text. The tolerance is 0: every op has one correct rounding.
OpenChain makeOpenMap(uint64_t seed, uint64_t execution);

/// Like makeOpenMap(), for products. Sums of bytes are exact: their tolerance is 0, and an i32 output counts as
/// f32.
OpenChain makeOpenProduct(uint64_t seed, uint64_t execution);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_RANDOMOPEN_H
