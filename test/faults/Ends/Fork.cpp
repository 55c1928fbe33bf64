//===- Fork.cpp - Children of a process that is busy ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Fork ACTIVITY END: forks while other threads are busy. Each child executes an old primitive, creates and executes new
// ones, makes a failing call, and ends. A child that takes 20 s has hung.
//
//   ACTIVITY  compile (problems that no cache has), evict (more kernels than the memory cache holds, from disk), memory
//             (one kernel that the memory cache holds), execute, listen (events), first (like compile, but in a process
//             that has compiled nothing before), settings
//   END       exit, _exit, return (from the forked thread's function, by main)
//
// The rows of the table in docs/embedding.md; a run forks four times:
//
// FAULTS: fork-compile short=4 full=250 limit=60: compile _exit
// FAULTS: fork-compile-exit short=4 full=250 limit=60: compile exit
// FAULTS: fork-first short=4 full=250 limit=60: first exit
// FAULTS: fork-evict short=2 full=250 limit=60: evict _exit
// FAULTS: fork-memory short=2 full=250 limit=60: memory exit
// FAULTS: fork-execute short=2 full=250 limit=60: execute exit
// FAULTS: fork-listen short=2 full=250 limit=60: listen _exit
// FAULTS: fork-settings short=2 full=250 limit=60: settings exit
// FAULTS: fork-process short=2 full=250 limit=60: QUERN_COMPILER=process compile exit
// FAULTS: fork-orc short=2 full=250 limit=60: QUERN_LINKER=orc evict exit
// FAULTS: fork-debug short=2 full=250 limit=60: QUERN_DEBUG=gdb evict exit
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_cache.h"
#include "quern/quern_event.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace quern::faults;

static std::atomic<bool> isOver{false};

static std::string lineOf(int i) {
  const std::string shape = std::to_string(4 + i % 7) + "x" + std::to_string(16 + i) + ":ab";
  return "softmax fwd_i src=f32:" + shape + " dst=f32:" + shape + " axis=1";
}
static const char *const large = "softmax fwd_i src=f32:512x1000:ab dst=f32:512x1000:ab axis=1";

static void listen(void *, const quern_event_t *) {}

/// Repeats the activity until the process is over.
static void work(const std::string &activity, int thread) {
  const Cpu cpu;
  Execution one;
  if (activity == "execute")
    one.all(cpu, large);
  for (int i = thread; !isOver; i += 2) {
    if (activity == "execute") {
      (void)one.run(cpu.stream);
      continue;
    }
    if (activity == "listen")
      (void)quern_set_listener(listen, nullptr, i % 4 < 2 ? quern_event_create | quern_event_fail : 0);
    if (activity == "settings") {
      quern_cache_statistics_t statistics;
      (void)quern_set_primitive_cache_capacity(8 + i % 2);
      (void)quern_set_disk_cache_capacity(1U << 28U);
      (void)quern_get_cache_statistics(&statistics);
    }
    Execution made;
    const bool isNew = activity == "compile" || activity == "first";
    require(made.describe(cpu.engine, lineOf(isNew ? i : activity == "memory" ? 0 : i % 8)), "describing");
    require(made.create(), "creating");
  }
}

/// Runs the child of a fork; returns its exit status.
static int beChild(const Cpu &cpu, Execution &old, std::string wanted, int number) {
  alarm(20);
  if (wanted.empty()) { // the parent has created nothing
    old.all(cpu, large);
    wanted = old.outputs();
  }
  old.fill();
  if (old.run(cpu.stream) != quern_success || old.outputs() != wanted)
    return 2;
  for (int i : {1000 + number, 0, 1}) {
    Execution made;
    if (made.describe(cpu.engine, lineOf(i)) != quern_success || made.create() != quern_success ||
        made.bind() != quern_success)
      return 3;
    made.fill();
    if (made.run(cpu.stream) != quern_success)
      return 4;
  }
  quern_primitive_desc_t none = nullptr;
  if (quern_primitive_desc_create_from_text(&none, cpu.engine, "softmax") == quern_success)
    return 5;
  std::thread another([&] { (void)old.run(cpu.stream); });
  another.join();
  return old.outputs() == wanted ? 0 : 6;
}

int main(int, char **arguments) {
  const std::string activity = arguments[1], end = arguments[2];
  std::vector<std::thread> threads;
  const auto begin = [&] {
    for (int i = 0; i < 2; ++i)
      threads.emplace_back(work, activity, i);
  };
  if (activity == "evict" || activity == "listen")
    require(quern_set_primitive_cache_capacity(2), "quern_set_primitive_cache_capacity");
  const Cpu cpu;
  Execution old;
  std::string wanted;
  if (activity != "first") {
    old.all(cpu, large);
    wanted = old.outputs();
  }
  begin();
  for (int i = 0; i < 4; ++i) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    usleep(static_cast<useconds_t>(now.tv_nsec % 20'000));
    const pid_t child = fork();
    require(child >= 0, "fork() has failed");
    if (child == 0) {
      const int status = beChild(cpu, old, wanted, i);
      if (end == "exit")
        std::exit(status);
      _exit(status);
    }
    int status = 0;
    require(waitpid(child, &status, 0) == child, "waitpid() has failed");
    if (status != 0) {
      std::printf("FAILED: child %d: %s %d\n", i, WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      std::fflush(stdout);
      _exit(1);
    }
  }
  isOver = true;
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}
