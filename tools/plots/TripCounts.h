//===- TripCounts.h - Trip counts of the loops of a trace -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_TRIPCOUNTS_H
#define QUERN_PLOTS_TRIPCOUNTS_H

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace quern {

/// Returns the number of iterations of each loop of a trace's schedule (quern_form_trace) in an execution; -1 if
/// unknown.
std::vector<double> tripCountsOf(const nlohmann::json &trace);

/// Returns the flops of an execution, with functions like exp as one each; nothing if the number is unknown.
std::optional<double> flopsOf(const nlohmann::json &trace);

} // namespace quern

#endif // QUERN_PLOTS_TRIPCOUNTS_H
