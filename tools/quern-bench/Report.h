//===- Report.h - Tables of what was measured -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Markdown for people and documents, JSON for machines, from the same rows.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_REPORT_H
#define QUERN_BENCH_REPORT_H

#include "Comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace quern::bench {

/// What one number of threads gave.
struct Report {
  Settings settings;
  std::vector<Row> rows;
};

/// Times of `peer` over Quern's: above 1 Quern is ahead. `best` is the better of the oneDNN builds that ran.
/// Nothing where either refused.
struct Ratio {
  double minimum, median;
};
std::optional<Ratio> ratioTo(const Row &row, const std::string &peer);
std::optional<Ratio> ratioToBestOneDnn(const Row &row, const Settings &settings);

/// The machine, the library and the date, one line each.
std::string describeMachine();
/// One table of problems, and one of geometric means for each family and each group.
std::string describeComparison(const Report &report);
/// Who refused what and why, one line each.
std::string describeRefusals(const Report &report);
/// How much faster the second report's threads are than the first's, for problems of 32 MiB or more.
std::string describeScaling(const Report &one, const Report &many);

nlohmann::json toJson(const Report &report);

} // namespace quern::bench

#endif // QUERN_BENCH_REPORT_H
