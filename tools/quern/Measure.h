//===- Measure.h - A traced kernel beside what the machine can do ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_MEASURE_H
#define QUERN_TOOL_MEASURE_H

#include "Problem.h"
#include "Support/Error.h"

#include <nlohmann/json.hpp>

namespace quern {

/// Runs a problem on this machine, one thread, and adds "measured" to its trace: docs/command.md has the fields. Fails
/// where the machine does not run the target or sizes are open.
Result<void> measureInto(nlohmann::json &trace, const Problem &problem);

/// The processor of this machine by LLVM's name if an estimate of the trace is of it; else "".
std::string processorName();

} // namespace quern

#endif // QUERN_TOOL_MEASURE_H
