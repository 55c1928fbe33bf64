//===- Streams.h - Streams of calls with new shapes -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Costs of a call with a new shape, and of a stream of such calls in total and at worst: with kernels of families in
// packs and specialized kernels that are compiled in the background, with only specialized kernels, and with genuine
// oneDNN.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_STREAMS_H
#define QUERN_BENCH_STREAMS_H

#include "Comparison.h"
#include "Contestants/Contestant.h"

namespace quern::bench {

inline constexpr const char *newShapesName = "new shapes", *attentionName = "attention in decoding",
                            *recurrentName = "LSTM";

/// Returns the contestant that runs in a separate process. `libraryPath` is as in createCalls().
std::unique_ptr<Contestant> createStreamOfCalls(const std::string &libraryPath);

/// Times of one stream by contestant, in ns, in the order of the calls.
struct StreamRow {
  std::string stream;
  std::map<std::string, Measurement> results;
};

struct StreamSettings {
  Settings common; ///< all CPUs; one thread computes and another may compile
  int calls = 20000;
  std::string filter; ///< part of the names of streams or contestants
};

/// Measures the streams, one contestant after the other. Throws std::runtime_error.
std::vector<StreamRow> measureStreams(const StreamSettings &settings);

/// Returns a table of the number of calls, the median, the 99th and 99.9th percentile, the maximum and the total.
std::string describeStreams(const std::vector<StreamRow> &rows);

/// Returns the paths of packs of families like those of an installed package, for QUERN_PACKS. Throws
/// std::runtime_error if they were not built.
std::string builtFamilies();

} // namespace quern::bench

#endif // QUERN_BENCH_STREAMS_H
