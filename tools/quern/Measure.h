//===- Measure.h - Measurements of a traced kernel ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_MEASURE_H
#define QUERN_TOOL_MEASURE_H

#include "Problem.h"
#include "Support/Error.h"

#include <nlohmann/json.hpp>

namespace quern {

/// Runs a problem on one thread of this machine and adds "measured" to its trace; docs/command.md lists the fields.
/// Fails if the machine cannot run the target or if sizes are open.
Result<void> measureInto(nlohmann::json &trace, const ParsedProblem &problem);

/// Returns LLVM's name for this machine's processor if traces have estimates for it; otherwise "".
std::string processorName();

} // namespace quern

#endif // QUERN_TOOL_MEASURE_H
