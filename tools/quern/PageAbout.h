//===- PageAbout.h - Problem and plan of a page in words ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_PAGEABOUT_H
#define QUERN_TOOL_PAGEABOUT_H

#include "Page.h"

namespace quern {

/// Returns the first column of a kernel, the `number`-th of the page: problem, plan, time, loops, recipes, launch
/// program.
std::string aboutOf(const PageKernel &kernel, size_t number);

/// These functions return a number with a unit, such as "1.5 KiB" or "12.3 us".
std::string bytesText(double bytes);
std::string timeText(double ns);

/// These functions return a picture as SVG. `place` is the prefix of links to lines of the schedule, without the line
/// number.
std::string rooflineOf(const nlohmann::json &measured, const std::string &place);
std::string programPictureOf(const nlohmann::json &trace);

} // namespace quern

#endif // QUERN_TOOL_PAGEABOUT_H
