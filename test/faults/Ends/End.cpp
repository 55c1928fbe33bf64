//===- End.cpp - Process exit while Quern works ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// End HOW ACTIVITY: starts an activity on other threads, ends the process 0 to 40 ms later, and checks only that it
// ends with the requested status.
//
//   HOW       return, exit, thread (exit() on another thread than main's), quick_exit, _exit
//   ACTIVITY  create, execute, both, none
//
// The rows of the table in docs/embedding.md:
//
// FAULTS: end-return-create short=10 full=1000: return create
// FAULTS: end-exit-create short=20 full=1000: exit create
// FAULTS: end-thread-create short=10 full=1000: thread create
// FAULTS: end-quick-create short=3 full=1000: quick_exit create
// FAULTS: end-_exit-create short=3 full=1000: _exit create
// FAULTS: end-exit-execute short=10 full=1000: exit execute
// FAULTS: end-exit-both short=10 full=1000: exit both
// FAULTS: end-exit-process short=5 full=1000: QUERN_COMPILER=process exit create
// FAULTS: end-return-none short=3 full=1000: return none
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cstdlib>
#include <ctime>
#include <thread>
#include <unistd.h>

using namespace quern::faults;

static const Cpu &cpu() {
  static auto *kept = new Cpu; // other threads use it while the process ends
  return *kept;
}

static std::string lineOf(int i) {
  const std::string shape = std::to_string(2 + i % 5) + "x" + std::to_string(8 + i) + ":ab";
  return "softmax fwd_i src=f32:" + shape + " dst=f32:" + shape + " axis=1";
}

/// Creates primitives of problems that are not cached.
static void createAll(int first) {
  for (int i = first;; i += 2) {
    Execution made;
    if (made.describe(cpu().engine, lineOf(i)) == quern_success)
      (void)made.create();
  }
}

static void executeAll(int seed) {
  Execution one;
  if (one.describe(cpu().engine, "softmax fwd_i src=f32:512x1000:ab dst=f32:512x1000:ab axis=1") != quern_success ||
      one.create() != quern_success || one.bind() != quern_success)
    return;
  one.fill(static_cast<uint64_t>(seed));
  while (one.run(cpu().stream) == quern_success)
    ;
}

int main(int, char **arguments) {
  const std::string how = arguments[1], activity = arguments[2];
  (void)cpu();
  for (int i = 1; i <= 2; ++i) {
    if (activity == "create" || activity == "both")
      std::thread(createAll, i).detach();
    if (activity == "execute" || activity == "both")
      std::thread(executeAll, i).detach();
  }
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  usleep(static_cast<useconds_t>(now.tv_nsec % 40'000));
  if (how == "exit")
    std::exit(0);
  if (how == "quick_exit")
    std::quick_exit(0);
  if (how == "_exit")
    _exit(0);
  if (how == "thread") {
    std::thread([] { std::exit(0); }).detach();
    for (;;)
      pause();
  }
  return 0;
}
