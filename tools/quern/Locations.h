//===- Locations.h - Stages with the origin of each line ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_LOCATIONS_H
#define QUERN_TOOL_LOCATIONS_H

#include <map>
#include <string>

namespace quern {

/// Returns the texts of a trace's stages by name, with a comment at the end of each line: in `emit` the mathematical
/// step, in other stages the lines of the previous stage ("schedule:12,15") and their step. The texts can still be
/// parsed.
std::map<std::string, std::string> locatedStages(const std::string &trace);

} // namespace quern

#endif // QUERN_TOOL_LOCATIONS_H
