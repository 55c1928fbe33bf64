//===- Plot.h - What was measured as pictures -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// SVG files that stand alone, from the rows of which the tables are made.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PLOT_H
#define QUERN_BENCH_PLOT_H

#include "Overheads.h"
#include "Report.h"

namespace quern::bench {

/// For each family and peer the geometric mean of the ratios, and from the lowest to the highest of them.
std::string plotRatios(const Report &report);
/// From what is found in memory to what is compiled: medians, and from the least to the most.
std::string plotLadder(const std::vector<Overhead> &overheads);
/// The problems under what this machine can do at most, one thread. Those without arithmetic are left out.
std::string plotRoofline(const Report &report);

} // namespace quern::bench

#endif // QUERN_BENCH_PLOT_H
