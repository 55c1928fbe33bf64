//===- Cancellation.cpp - Threads that are canceled in a call -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that pthread_cancel() takes effect only after the call that a thread is in, and that other threads continue.
//
// FAULTS: cancel-create full=20: create
// FAULTS: cancel-disk full=20: disk
// FAULTS: cancel-execute full=20: execute
// FAULTS: cancel-listener full=20: listener
// FAULTS: cancel-verbose full=20: verbose
// FAULTS: cancel-process full=20: QUERN_COMPILER=process create
// FAULTS: cancel-refused full=20: refused
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_cache.h"
#include "quern/quern_event.h"

#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

using namespace quern::faults;

namespace {

const char *what;
Cpu *cpu;

std::string lineOf(int rows, int columns) {
  const std::string shape = "f32:" + std::to_string(rows) + "x" + std::to_string(columns) + ":ab";
  return "softmax fwd_i src=" + shape + " dst=" + shape + " axis=1";
}

/// Repeats a call until a cancellation takes effect.
void *work(void *) {
  const bool executes =
      std::strcmp(what, "execute") == 0 || std::strcmp(what, "listener") == 0 || std::strcmp(what, "verbose") == 0;
  // Never destroyed, because a cancellation leaves it as it is.
  auto *execution = new Execution;
  if (executes) {
    require(execution->describe(cpu->engine, lineOf(512, 1000)), "describe");
    require(execution->create(), "create");
    require(execution->bind(), "bind");
    execution->fill();
  }
  for (int i = 0;; ++i) {
    pthread_testcancel();
    if (executes) {
      require(execution->run(cpu->stream), "run");
    } else if (std::strcmp(what, "refused") == 0) {
      quern_engine_t none = nullptr;
      require(quern_engine_create(&none, quern_cpu, 7) != quern_success, "an engine of index 7");
    } else {
      auto *made = new Execution;
      require(made->describe(cpu->engine, std::strcmp(what, "disk") == 0 ? lineOf(8, 16) : lineOf(2 + i % 5, 8 + i)),
              "describe");
      require(made->create(), "create");
    }
  }
}

void sleepInListener(void *, const quern_event_t *) { usleep(100); }

} // namespace

int main(int argc, char **argv) {
  require(argc == 2, "usage: Cancellation create|disk|execute|listener|verbose|refused");
  what = argv[1];
  cpu = new Cpu;
  Execution first;
  first.all(*cpu, lineOf(8, 16));
  if (std::strcmp(what, "disk") == 0)
    require(quern_set_primitive_cache_capacity(0), "capacity");
  if (std::strcmp(what, "listener") == 0 || std::strcmp(what, "refused") == 0)
    require(quern_set_listener(sleepInListener, nullptr, quern_event_execute | quern_event_fail), "listener");
  if (std::strcmp(what, "verbose") == 0)
    require(quern_set_verbose(2), "verbose");
  for (int i = 0; i < 12; ++i) {
    pthread_t thread;
    require(pthread_create(&thread, nullptr, work, nullptr) == 0, "pthread_create");
    usleep(static_cast<useconds_t>(1000 * (5 + 3 * i)));
    pthread_cancel(thread);
    void *end = nullptr;
    pthread_join(thread, &end);
    require(end == PTHREAD_CANCELED, "the thread was not canceled");
    Execution next;
    next.all(*cpu, lineOf(9, 16 + i));
  }
}
