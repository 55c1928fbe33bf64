//===- Calls.h - Costs of single calls of an interface --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Times descriptors, cached primitives, and executions of tensors so small that the call dominates. The same code calls
// Quern's own interface, the drop-in and genuine oneDNN through the addresses of their functions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CALLS_H
#define QUERN_BENCH_CALLS_H

#include "Comparison.h"
#include "Contestants/Contestant.h"

namespace quern::bench {

/// Names of the interfaces whose library is Quern.
inline constexpr const char *nativeName = "native", *dropInName = "drop-in";

/// Returns the contestant that runs in a separate process. `libraryPath` is a library with oneDNN's interface; empty:
/// Quern's own.
std::unique_ptr<Contestant> createCalls(const std::string &libraryPath);

/// Times of one call by interface, in ns.
struct CallRow {
  std::string call;
  std::map<std::string, Measurement> results; ///< by interface
};

/// Measures every call in alternating processes on the first CPU, with those of `settings.peers` that are oneDNN.
/// Throws std::runtime_error.
std::vector<CallRow> measureCalls(const Settings &settings);

/// Returns a table of minima and medians, with the differences and ratios that docs/performance.md limits.
std::string describeCalls(const std::vector<CallRow> &rows, const Settings &settings);

} // namespace quern::bench

#endif // QUERN_BENCH_CALLS_H
