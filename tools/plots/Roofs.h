//===- Roofs.h - What this machine can do at most -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_ROOFS_H
#define QUERN_PLOTS_ROOFS_H

#include <cstdint>

namespace quern {

/// The best of some runs of multiply-adds of f32 on all lanes that this machine has: flops per nanosecond, one thread.
double peakGflops();
/// The best of some copies: bytes read and written per nanosecond, `bytes` in all, one thread.
double copyGbPerS(int64_t bytes);

} // namespace quern

#endif // QUERN_PLOTS_ROOFS_H
