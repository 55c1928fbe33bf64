//===- Turns.h - How often the loops of a trace turn ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_TURNS_H
#define QUERN_PLOTS_TURNS_H

#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace quern {

/// Of each loop of a trace's schedule (quern_form_trace) how many turns an execution makes; -1 where no number tells.
std::vector<double> turnsOf(const nlohmann::json &trace);

/// Flops of an execution, exp and its like one each; nothing where not all are counted.
std::optional<double> flopsOf(const nlohmann::json &trace);

} // namespace quern

#endif // QUERN_PLOTS_TURNS_H
