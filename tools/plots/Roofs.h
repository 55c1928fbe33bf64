//===- Roofs.h - Peak and bandwidth of this machine -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_ROOFS_H
#define QUERN_PLOTS_ROOFS_H

#include <cstdint>

namespace quern {

/// Returns the best of several runs of f32 multiply-adds on the widest vectors of this machine: flops per nanosecond,
/// one thread.
double peakGflops();
/// Returns the best of several copies, which read and write `bytes` in total: bytes per nanosecond, one thread.
double copyGbPerS(int64_t bytes);

} // namespace quern

#endif // QUERN_PLOTS_ROOFS_H
