//===- Streams.h - Programs whose shapes are new all the time -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a call costs that meets a new shape, and what a stream of such calls costs in all and at worst: with kernels of
// families in packs and specialised kernels that come behind the caller's back, with specialised kernels alone, and of
// genuine oneDNN.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_STREAMS_H
#define QUERN_BENCH_STREAMS_H

#include "Comparison.h"
#include "Contestants/Contestant.h"

namespace quern::bench {

inline constexpr const char *newShapesName = "new shapes", *attentionName = "attention in decoding",
                            *recurrentName = "LSTM";

/// The contestant in its own process. `libraryPath` is as of createCalls().
std::unique_ptr<Contestant> createStreamOfCalls(const std::string &libraryPath);

/// Of one stream, in ns, in the order of the calls, by contestant.
struct StreamRow {
  std::string stream;
  std::map<std::string, Measurement> results;
};

struct StreamSettings {
  Settings common; ///< all CPUs, of which one thread computes and another may compile
  int calls = 20000;
  std::string filter; ///< of the streams' names, or of the contestants'
};

/// Measures the streams, one contestant after the other. Throws std::runtime_error.
std::vector<StreamRow> measureStreams(const StreamSettings &settings);

/// Tables of median, 99th percentile, worst and total.
std::string describeStreams(const std::vector<StreamRow> &rows);

/// Packs of families as an installed package has them, for QUERN_PACKS. Throws std::runtime_error if they were not
/// built.
std::string builtFamilies();

} // namespace quern::bench

#endif // QUERN_BENCH_STREAMS_H
