//===- Overheads.h - Costs in addition to the kernel's time ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compile time, cache hits, the cost of a call, and the time from the start of a process to its first result.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_OVERHEADS_H
#define QUERN_BENCH_OVERHEADS_H

#include <string>
#include <vector>

namespace quern::bench {

struct Overhead {
  std::string name;
  std::string unit; ///< ns, µs, ms or KiB
  double minimum, median, maximum;
  double bound; ///< bound that docs/performance.md promises for the median, in the same unit
};

/// Measures on the given CPU. `lines` are the problems whose compilation is timed, and whose calls are timed if they
/// have a bound; each has its own rows at the end. Throws std::runtime_error.
std::vector<Overhead> measureOverheads(const std::vector<std::string> &lines, int cpu);

std::string describeOverheads(const std::vector<Overhead> &overheads);

} // namespace quern::bench

#endif // QUERN_BENCH_OVERHEADS_H
