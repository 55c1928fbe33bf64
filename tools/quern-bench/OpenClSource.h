//===- OpenClSource.h - Plain OpenCL C for a problem ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_OPENCLSOURCE_H
#define QUERN_BENCH_OPENCLSOURCE_H

#include "Problem.h"

namespace quern::bench {

/// A kernel `k` as one writes it first: a work-item computes an element of a reorder, or a row of a softmax; long rows, where there are
/// few, get a group. Its arguments are the problem's.
struct OpenClSource {
  std::string text;
  size_t items = 1, group = 0; ///< work-items in all, and of a group; 0: as the runtime likes
};

/// Throws std::runtime_error for what has no such kernel: attributes, open sizes, compensation, other primitives.
OpenClSource openClSourceFor(const Problem &problem);

} // namespace quern::bench

#endif // QUERN_BENCH_OPENCLSOURCE_H
