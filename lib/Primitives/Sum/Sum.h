//===- Sum.h - What the verifier and the emitter of sums share ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SUM_SUM_H
#define QUERN_PRIMITIVES_SUM_SUM_H

#include <cstddef>

namespace quern::sum {

/// So many sources are added in one kernel; more take several, which pass what they have on.
inline constexpr size_t mostTogether = 16;

} // namespace quern::sum

#endif // QUERN_PRIMITIVES_SUM_SUM_H
