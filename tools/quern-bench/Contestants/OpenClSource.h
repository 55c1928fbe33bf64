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
  std::string what; ///< "a row to a group"
  std::string text;
  size_t items = 1, group = 0; ///< work-items in all, and of a group; 0: as the runtime likes
};

/// The kernels that one writes first, of which the fastest counts: of a reorder an element to a work-item, neighbours
/// in the order of the destination or of the source, and where sums are appended the elements behind a sum to a
/// work-item or a group; of a softmax a row to a work-item, and one to a group. Throws std::runtime_error for what has
/// none: open sizes, sums for RNNs, other primitives.
std::vector<OpenClSource> openClSourcesFor(const Problem &problem);

} // namespace quern::bench

#endif // QUERN_BENCH_CONTESTANTS_OPENCLSOURCE_H
