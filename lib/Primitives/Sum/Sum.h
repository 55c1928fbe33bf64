//===- Sum.h - Limits of the kernels of a sum -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SUM_SUM_H
#define QUERN_PRIMITIVES_SUM_SUM_H

#include <cstddef>

namespace quern::sum {

/// Maximum number of sources per kernel. Longer sums use several kernels, each of which adds to the result of the one
/// before.
inline constexpr size_t maxSourcesPerKernel = 16;

} // namespace quern::sum

#endif // QUERN_PRIMITIVES_SUM_SUM_H
