//===- Cost.h - The cost of compilation, per primitive --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cost is one line: "instructions softmax 123456", or "microseconds softmax 1234".
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_COST_H
#define QUERN_KERNELS_COST_H

#include "Corpus.h"

#include <iosfwd>

namespace quern {

enum class Counter {
  Hardware, ///< instructions that this thread retires in user mode, counted by the CPU
  /// Instructions within quern_kernels_measured(), which an external profiler counts; it is called once per set.
  Outside,
  Seconds, ///< CPU time of this thread: the sum over problems of the minimum over repetitions
};

/// Compiles the problems of each file or, without files, of each set of cases, and prints a line for each file or set:
/// with Counter::Outside only its name. Objects that are created once per process are created before. Returns
/// `unimplemented` if this machine has no such counter.
Result<void> printCosts(const CorpusOptions &options, Counter counter, int64_t repetitions, std::ostream &os);

/// Prints the costs of two files and the increases. Returns true if none exceeds its old value by more than `percent`;
/// 0 means 1 for instructions and 10 for time. Returns `invalid_arguments` if a file has no costs, or the two have
/// different units or sets.
Result<bool> compareCosts(const std::string &before, const std::string &after, double percent, std::ostream &os);

} // namespace quern

#endif // QUERN_KERNELS_COST_H
