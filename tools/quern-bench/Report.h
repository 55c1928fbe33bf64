//===- Report.h - Tables of measurements ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Markdown for people and documents, JSON for programs, from the same rows.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_REPORT_H
#define QUERN_BENCH_REPORT_H

#include "Comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace quern::bench {

/// Results for one number of threads.
struct Report {
  Settings settings;
  std::vector<Row> rows;
};

/// Times of `peer` divided by Quern's: above 1 Quern is faster. ratioToBestOneDnn() uses the fastest of the
/// oneDNN builds that ran. Nothing if the peer or Quern refused the problem.
struct Ratio {
  double minimum, median;
};
std::optional<Ratio> ratioTo(const Row &row, const std::string &peer);
std::optional<Ratio> ratioToBestOneDnn(const Row &row, const Settings &settings);

/// Returns one line with the processor, the library's version and the date.
std::string describeMachine();
/// Returns one table of problems, and one of geometric means for each family and each group.
std::string describeComparison(const Report &report);
/// Returns refused problems with peer and reason, one line each.
std::string describeRefusals(const Report &report);
/// Returns the speedup of the second report's threads over the first's, for problems of 32 MiB or more.
std::string describeScaling(const Report &one, const Report &many);

nlohmann::json toJson(const Report &report);

} // namespace quern::bench

#endif // QUERN_BENCH_REPORT_H
