//===- OpenClSource.h - Plain OpenCL C for a problem ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CONTESTANTS_OPENCLSOURCE_H
#define QUERN_BENCH_CONTESTANTS_OPENCLSOURCE_H

#include "Problems/Problem.h"

namespace quern::bench {

/// A kernel `k` whose arguments are the problem's.
struct OpenClSource {
  std::string what; ///< distribution of the work, such as "a row to a group"
  std::string text;
  size_t items = 1, group = 0; ///< work-items in total, and per group; 0: the runtime decides
};

/// Returns straightforward kernels, of which the fastest counts. For a reorder: one element per work-item, in the order
/// of the destination or of the source; if sums are appended, the elements of a sum per work-item or per group. For a
/// softmax: one row per work-item, and one per group. Throws std::runtime_error for unsupported problems: open sizes,
/// sums for RNNs, other primitives.
std::vector<OpenClSource> openClSourcesFor(const BenchProblem &problem);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_OPENCLSOURCE_H
