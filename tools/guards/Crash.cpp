//===- Crash.cpp - Report of a case that crashes --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Crash.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace quern {
namespace {

/// A fixed array, because the crash handler may not allocate.
char runningCase[8192];

void report() {
  constexpr std::string_view what = "FAILED: crashed\n  ";
  bool isWritten = write(STDOUT_FILENO, what.data(), what.size()) > 0 &&
                   write(STDOUT_FILENO, runningCase, std::strlen(runningCase)) > 0;
  (void)(isWritten && write(STDOUT_FILENO, "\n", 1) > 0);
}

void reportSignal(int signal) {
  report();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Some LLVM errors call exit() instead of raising a signal.
void reportExit() {
  if (*runningCase)
    report();
}

} // namespace

void reportCrashes() {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    std::signal(signal, reportSignal);
  std::atexit(reportExit);
}

void nameRunningCase(std::string_view command) { runningCase[command.copy(runningCase, sizeof(runningCase) - 1)] = 0; }

} // namespace quern
