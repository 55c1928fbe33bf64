//===- Crash.h - Report of a case that crashes ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_CRASH_H
#define QUERN_TOOLS_CRASH_H

#include <string_view>

namespace quern {

/// Installs handlers: a signal that terminates the program, or an exit() within a case, prints "FAILED: crashed" and
/// the command of the case.
void reportCrashes();
/// Sets the command that runs the present case; empty between cases.
void nameRunningCase(std::string_view command);

/// Names a case during the lifetime of the object.
class RunningCase {
public:
  explicit RunningCase(std::string_view command) { nameRunningCase(command); }
  ~RunningCase() { nameRunningCase({}); }
  RunningCase(const RunningCase &) = delete;
  RunningCase &operator=(const RunningCase &) = delete;
};

} // namespace quern

#endif // QUERN_TOOLS_CRASH_H
