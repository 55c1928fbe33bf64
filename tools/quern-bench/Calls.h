//===- Calls.h - What single calls of an interface cost -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Descriptors, primitives found in a cache, and executions of tensors so small that the call is what counts: through
// Quern's own interface, through the drop-in's and through genuine oneDNN's, by the same code, which knows no more of
// each than the address of its functions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_CALLS_H
#define QUERN_BENCH_CALLS_H

#include "Comparison.h"
#include "Contestants/Contestant.h"

namespace quern::bench {

/// The interfaces whose library is Quern's.
inline constexpr const char *nativeName = "native", *dropInName = "drop-in";

/// The contestant in its own process. `libraryPath` is of a library that has oneDNN's interface; empty: Quern's own.
std::unique_ptr<Contestant> createCalls(const std::string &libraryPath);

/// What each call of each interface takes, in ns.
struct CallRow {
  std::string call;
  std::map<std::string, Measurement> results; ///< by interface
};

/// Measures every call in alternating processes on the first CPU, with those of `settings.peers` that are oneDNN.
/// Throws std::runtime_error.
std::vector<CallRow> measureCalls(const Settings &settings);

/// A table of minima and medians, and what of it docs/performance.md promises.
std::string describeCalls(const std::vector<CallRow> &rows, const Settings &settings);

} // namespace quern::bench

#endif // QUERN_BENCH_CALLS_H
