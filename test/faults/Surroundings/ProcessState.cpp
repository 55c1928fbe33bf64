//===- ProcessState.cpp - State of the process that the library leaves alone ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that creating and executing do not change the process: handlers and mask of signals, umask, working directory,
// environment, timers, limits and the standard streams.
//
// FAULTS: process-state limit=60:
// FAULTS: process-state-process limit=60: QUERN_COMPILER=process
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

using namespace quern::faults;

extern char **environ;

namespace {

std::string stateOf() {
  std::string state;
  const auto add = [&](const std::string &what, const std::string &value) { state += what + " " + value + "\n"; };
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0)
      add("handler of signal " + std::to_string(signal),
          std::to_string(reinterpret_cast<uintptr_t>(action.sa_handler)) + " " + std::to_string(action.sa_flags));
  }
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&mask, signal) == 1)
      add("blocked", std::to_string(signal));
  const mode_t permissions = umask(0);
  umask(permissions);
  add("umask", std::to_string(permissions));
  add("folder", std::filesystem::current_path().string());
  for (char **variable = environ; *variable; ++variable)
    add("variable", *variable);
  for (int timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval value = {};
    getitimer(timer, &value);
    add("timer", std::to_string(value.it_value.tv_sec));
  }
  for (int descriptor : {0, 1, 2}) {
    struct stat status = {};
    fstat(descriptor, &status);
    add("stream " + std::to_string(descriptor), std::to_string(status.st_ino));
  }
  for (int limit : {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_AS}) {
    rlimit value = {};
    getrlimit(limit, &value);
    add("limit " + std::to_string(limit), std::to_string(value.rlim_cur));
  }
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  add("stack of signals", std::to_string(stack.ss_size));
  return state;
}

/// Returns the first line that differs.
std::string difference(const std::string &before, const std::string &after) {
  size_t at = 0;
  while (at < before.size() && before[at] == after[at])
    ++at;
  const size_t begin = before.rfind('\n', at) + 1;
  return before.substr(begin, before.find('\n', at) - begin) + " became " +
         after.substr(begin, after.find('\n', at) - begin);
}

} // namespace

int main() {
  const std::string before = stateOf();
  {
    const Cpu cpu;
    for (int size : {500, 1000, 2000}) {
      const std::string tensor = "f32:" + std::to_string(size) + "x1000:ab";
      Execution execution;
      execution.all(cpu, "softmax fwd_i src=" + tensor + " dst=" + tensor + " axis=1");
      Execution refused;
      require(refused.describe(cpu.engine, "softmax fwd_i src=f32:?") != quern_success, "a wrong line is accepted");
    }
    require(before == stateOf(), difference(before, stateOf()));
  }
  require(before == stateOf(), difference(before, stateOf()));
  std::printf("1 passed, 0 failed\n");
}
