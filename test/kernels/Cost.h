//===- Cost.h - What compiling costs, for each primitive ------------------===//
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
  Hardware, ///< instructions that this thread retires outside of the kernel, counted by the CPU
  /// Instructions, counted by whoever runs this program: all within quern_kernels_measured(), once for each set.
  Outside,
  Seconds, ///< of this thread's CPU time, for each problem the least of some repetitions
};

/// Compiles each problem that a set of cases draws and prints a line for each set; with Counter::Outside only the set's
/// name. What is made once in a process is made before. `unimplemented`: this machine has no such counter.
Result<void> printCosts(const CorpusOptions &options, Counter counter, int64_t repetitions, std::ostream &os);

/// Prints the costs of two files and what has grown. True if none is more than `percent` above what it was; 0 stands
/// for 1 of instructions and for 10 of time. `invalid_arguments`: a file has no costs, or the two are not of the same.
Result<bool> compareCosts(const std::string &before, const std::string &after, double percent, std::ostream &os);

} // namespace quern

#endif // QUERN_KERNELS_COST_H
