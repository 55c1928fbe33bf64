//===- Crash.h - Names the case at which the program ended ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_CRASH_H
#define QUERN_TOOLS_CRASH_H

#include <string_view>

namespace quern {

/// From now on a signal that ends the program, or an exit() in the middle of a case, prints "FAILED: crashed"
/// and the command of the case.
void reportCrashes();
/// The command that runs the case at hand; empty between cases.
void nameRunningCase(std::string_view command);

/// Names a case for as long as it lives.
class RunningCase {
public:
  explicit RunningCase(std::string_view command) { nameRunningCase(command); }
  ~RunningCase() { nameRunningCase({}); }
  RunningCase(const RunningCase &) = delete;
  RunningCase &operator=(const RunningCase &) = delete;
};

} // namespace quern

#endif // QUERN_TOOLS_CRASH_H
