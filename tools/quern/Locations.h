//===- Locations.h - Stages whose lines say where they come from ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_LOCATIONS_H
#define QUERN_TOOL_LOCATIONS_H

#include <map>
#include <string>

namespace quern {

/// The texts of a trace's stages by their names, each line with a comment behind it: in `emit` the mathematical step,
/// in others the lines of the stage that it comes from ("schedule:12,15") and their step. They parse as without.
std::map<std::string, std::string> locatedStages(const std::string &trace);

} // namespace quern

#endif // QUERN_TOOL_LOCATIONS_H
