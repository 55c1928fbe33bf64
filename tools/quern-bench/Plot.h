//===- Plot.h - Measurements as pictures ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Standalone SVG files from the rows of the tables.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PLOT_H
#define QUERN_BENCH_PLOT_H

#include "Overheads.h"
#include "Report.h"

namespace quern::bench {

/// Returns a picture of the geometric mean and the range of the ratios, for each family and peer.
std::string plotRatios(const Report &report);
/// Returns a picture of the times from a hit in memory to a compilation: medians and ranges.
std::string plotLadder(const std::vector<Overhead> &overheads);
/// Returns a picture of the problems below the limits of this machine on one thread. Problems without arithmetic are
/// left out.
std::string plotRoofline(const Report &report);

} // namespace quern::bench

#endif // QUERN_BENCH_PLOT_H
