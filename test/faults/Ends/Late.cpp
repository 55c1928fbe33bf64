//===- Late.cpp - Calls in exit handlers and destructors ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Late MOMENT: makes a failing call, executes old primitives, and creates, compiles and executes a new one at a moment
// when objects of the thread or of the process may have been destroyed. All must return the same statuses and results
// as in main. The program starts itself again, because it checks how a process ends.
//
//   MOMENT  atexit-before (registered before the first call), atexit-after, static (destructor of an object at
//           namespace scope), local (of one in a function), thread_local (of a thread that ends), main-thread_local,
//           key (destructor of a pthread key), quick (handler of at_quick_exit())
//
// The rows of the table in docs/embedding.md:
//
// FAULTS: late-atexit-before short=2 full=1000: atexit-before
// FAULTS: late-atexit-after short=2 full=1000: atexit-after
// FAULTS: late-static short=2 full=1000: static
// FAULTS: late-local short=2 full=1000: local
// FAULTS: late-thread_local short=4 full=1000: thread_local
// FAULTS: late-main-thread_local short=2 full=1000: main-thread_local
// FAULTS: late-key short=4 full=1000: key
// FAULTS: late-quick short=3 full=1000: quick
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace quern::faults;

static const char *const lines[] = {
    "softmax fwd_i src=f32:512x512:ab dst=f32:512x512:ab axis=1",           // threads
    "softmax fwd_i src=f32:1x21x64x64:abcd dst=f32:1x21x64x64:abcd axis=1", // scratch of each thread
    ("rnn fwd_i cell=lstm direction=left2right src_layer=f32:4x8x64:abc weights_layer=f32:1x1x64x4x64:abcde "
     "weights_iter=f32:1x1x64x4x64:abcde bias=f32:1x1x4x64:abcd dst_layer=f32:4x8x64:abc"), // scratch that threads
                                                                                            // share
};
static const Cpu *cpu;
static Execution *old[std::size(lines)];
static std::string wanted[std::size(lines)];
static int calls = 0, callsUntilEnd = 1;

[[noreturn]] static void failNow(const std::string &message) {
  std::printf("FAILED: %s: %s\n", message.c_str(), quern_get_last_error_message());
  std::fflush(stdout);
  _exit(1);
}

static void failingCall() {
  quern_primitive_desc_t none = nullptr;
  const char *line = "softmax fwd_i src=f32:8x8:ab dst=f32:8x8:ab axis=9";
  if (quern_primitive_desc_create_from_text(&none, cpu->engine, line) != quern_invalid_arguments)
    failNow("another status");
  if (!std::string(quern_get_last_error_message()).starts_with("axis is 9"))
    failNow("another message");
}

/// The first use in a process or thread, and later ones.
static void useAll() {
  failingCall();
  for (size_t i = 0; i < std::size(lines); ++i)
    if (old[i]->run(cpu->stream) != quern_success || old[i]->outputs() != wanted[i])
      failNow(std::string("another result of ") + lines[i]);
  Execution made;
  const std::string shape = std::to_string(100 + calls) + "x300:ab";
  const std::string line = "softmax fwd_i src=f32:" + shape + " dst=f32:" + shape + " axis=1";
  if (made.describe(cpu->engine, line) != quern_success)
    failNow("describing " + line);
  const quern_status_t created = made.create();
  // This status is right if LLVM is a shared library, because LLVM's objects have been destroyed.
  const bool isRefused =
      created == quern_runtime_error && std::strstr(quern_get_last_error_message(), "the process is ending") != nullptr;
  if (created != quern_success && !isRefused)
    failNow("creating " + line);
  if (created == quern_success && made.bind() != quern_success)
    failNow("binding " + line);
  made.fill();
  if (created == quern_success && made.run(cpu->stream) != quern_success)
    failNow("executing " + line);
  if (++calls == callsUntilEnd)
    std::printf("all is well\n"), std::fflush(stdout);
}

struct Late {
  bool isOn = false;
  ~Late() {
    if (isOn)
      useAll();
  }
};
static Late atNamespaceScope;

static void prepare() {
  cpu = new Cpu;
  for (size_t i = 0; i < std::size(lines); ++i) {
    old[i] = new Execution;
    old[i]->all(*cpu, lines[i]);
    wanted[i] = old[i]->outputs();
  }
}

/// Runs a thread that creates an object before and after its first call of Quern; its destructor makes the last calls.
static void endThread(const std::string &moment) {
  static pthread_key_t key;
  if (moment == "key") {
    pthread_key_create(&key, [](void *) { useAll(); });
    pthread_setspecific(key, &key);
  }
  if (moment != "key") {
    thread_local Late before;
    before.isOn = true;
  }
  useAll();
}

static int run(const std::string &moment) {
  if (moment == "atexit-before")
    std::atexit(useAll);
  if (moment == "main-thread_local") {
    prepare();
    callsUntilEnd = 2;
    endThread(moment);
    return 0;
  }
  prepare();
  if (moment == "thread_local" || moment == "key") {
    callsUntilEnd = 2;
    std::thread(endThread, moment).join();
  }
  if (moment == "atexit-after")
    std::atexit(useAll);
  if (moment == "quick") {
    std::at_quick_exit(useAll);
    std::quick_exit(0);
  }
  if (moment == "local") {
    static Late local;
    local.isOn = true;
  }
  atNamespaceScope.isOn = moment == "static";
  failingCall(); // creates the thread's message buffer
  return 0;
}

int main(int count, char **arguments) {
  if (count == 3)
    return run(arguments[2]);
  const std::string command = "'" + std::string(arguments[0]) + "' again " + arguments[1];
  FILE *again = popen(command.c_str(), "r");
  std::string output;
  for (int c; (c = std::fgetc(again)) != EOF;)
    output += static_cast<char>(c);
  const int status = pclose(again);
  require(status == 0 && output == "all is well\n", "status " + std::to_string(status) + ", " + output);
  return 0;
}
