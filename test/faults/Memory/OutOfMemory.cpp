//===- OutOfMemory.cpp - Allocations that fail ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that a failed allocation becomes a status, and that the same call then succeeds with the right result.
//
//   OutOfMemory STAGE one|all STEP PERCENT PROBLEM [FIRST]
//
// For N = FIRST (1), FIRST + STEP, … a new process makes the N-th allocation of a stage fail, or all from the N-th on,
// until the stage has fewer allocations. Stages: engine; describe; create; execute (the first execution); again (the
// second); next, other (the creation of a second primitive, of the same problem or of another). At most PERCENT of the
// processes may be terminated by a failure, and none may hang. The failing functions are malloc() and its relatives,
// which this program defines.
//
// FAULTS: memory-engine-one: engine one 1 0 small
// FAULTS: memory-engine-all: engine all 1 0 small
// FAULTS: memory-describe-one: describe one 1 0 small
// FAULTS: memory-describe-all: describe all 1 0 small
// FAULTS: memory-describe-concat: describe all 1 0 concat
// FAULTS: memory-disk-one limit=60: create one 1 0 small
// FAULTS: memory-disk-all limit=60: create all 1 0 small
// FAULTS: memory-execute-one limit=60: execute one 1 0 large
// FAULTS: memory-execute-all limit=60: execute all 1 5 large
// FAULTS: memory-next-all: next all 1 0 small
// FAULTS: memory-compile-one short=0 limit=3000: QUERN_CACHE_DIR=off create one 12 5 small
// FAULTS: memory-compile-other short=0 limit=3000: QUERN_CACHE_DIR=off other one 12 5 small
// FAULTS: memory-compile-all short=0 limit=3000: QUERN_CACHE_DIR=off create all 48 5 small
// FAULTS: memory-compile-some full=0 limit=120: QUERN_CACHE_DIR=off create one 400 10 small
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace quern::faults;

namespace {

std::atomic<long> left{0}; ///< allocations until one fails; 0: no failures
std::atomic<bool> hasFailed{false};
bool failsAll = false;

bool fails() {
  if (left.load(std::memory_order_relaxed) <= 0 || left.fetch_sub(1, std::memory_order_relaxed) != 1)
    return false;
  hasFailed = true;
  if (failsAll)
    left = 1;
  errno = ENOMEM;
  return true;
}

} // namespace

// Libraries call these instead of the C library's.
#pragma GCC visibility push(default)
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return fails() ? nullptr : __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  *memory = made ? made : *memory;
  return made ? 0 : ENOMEM;
}
}
#pragma GCC visibility pop

namespace {

constexpr int rareStatus = 3; ///< the stage has fewer allocations than N
constexpr unsigned hangSeconds = 20;

const char *lineOf(const char *problem) {
  if (std::strcmp(problem, "small") == 0)
    return "softmax fwd_i src=f32:8x16:ab dst=f32:8x16:ab axis=1";
  if (std::strcmp(problem, "large") == 0)
    return "softmax fwd_i src=f32:2048x1000:ab dst=f32:2048x1000:ab axis=1";
  return "concat srcs=f32:8x16:ab,f32:8x16:ab dst=f32:8x32:ab axis=1";
}

struct Run {
  std::string stage, line, expected;
  quern_engine_t engine = nullptr;
  quern_stream_t stream = nullptr;
  Execution execution, next;
  std::vector<quern_exec_arg_t> given; ///< kept, so that an execution itself allocates nothing

  quern_status_t call(const std::string &name) {
    if (name == "engine")
      return quern_engine_create(&engine, quern_cpu, 0);
    if (name == "describe")
      return execution.describe(engine, line);
    if (name == "create")
      return execution.create();
    if (name == "next" || name == "other")
      return next.create();
    return quern_primitive_execute(execution.handle(), stream, static_cast<int>(given.size()), given.data());
  }

  /// Runs a step with failing allocations if it is the stage, and then without.
  void step(const std::string &name, long n) {
    if (name == stage && n > 0) {
      left = n;
      const quern_status_t status = call(name);
      left = 0;
      if (!hasFailed)
        _exit(rareStatus);
      if (status != quern_success && status != quern_out_of_memory && status != quern_runtime_error)
        fail(name + " returned " + quern_status_name(status) + ": " + quern_get_last_error_message());
      if (status == quern_success && name != "execute")
        return;
    }
    const quern_status_t status = call(name);
    require(status, name);
  }

  /// Runs all steps with failures from the N-th allocation of the stage on; returns the outputs.
  std::string all(long n) {
    step("engine", n);
    require(quern_stream_create(&stream, engine, quern_stream_in_order), "stream");
    step("describe", n);
    step("create", n);
    if (stage == "next" || stage == "other") {
      require(next.describe(engine, stage == "next" ? line : lineOf("concat")), "describe");
      step(stage, n);
    }
    require(execution.bind(), "bind");
    execution.fill();
    given = execution.given();
    step("execute", n);
    require(execution.run(stream), "execute again");
    return execution.outputs();
  }
};

enum Outcome { Right, Rare, Wrong, Ended, Hung };

/// Runs one process in which the N-th allocation fails.
Outcome outcomeOf(const char *const *words, long n, const std::string &expected) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(hangSeconds);
    Run run;
    run.stage = words[0];
    run.line = lineOf(words[4]);
    if (run.all(n) != expected)
      fail("other results");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? Hung : Ended;
  return WEXITSTATUS(status) == 0 ? Right : WEXITSTATUS(status) == rareStatus ? Rare : Wrong;
}

/// Returns the outputs of a process without failures, which a file transfers.
std::string expectedOutputs(const char *line) {
  std::FILE *file = std::tmpfile();
  require(file, "no temporary file");
  const pid_t child = fork();
  if (child == 0) {
    Run run;
    run.line = line;
    const std::string outputs = run.all(0);
    std::fwrite(outputs.data(), 1, outputs.size(), file);
    std::fflush(file);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  require(status == 0, "the problem does not run without failures");
  std::string outputs(static_cast<size_t>(std::ftell(file)), 0);
  std::rewind(file);
  require(std::fread(outputs.data(), 1, outputs.size(), file) == outputs.size(), "the outputs cannot be read");
  std::fclose(file);
  return outputs;
}

} // namespace

int main(int argc, char **argv) {
  require(argc == 6 || argc == 7, "usage: OutOfMemory STAGE one|all STEP PERCENT PROBLEM [FIRST]");
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  failsAll = std::strcmp(argv[2], "all") == 0;
  const long step = std::atol(argv[3]);
  const double percent = std::atof(argv[4]);
  const std::string expected = expectedOutputs(lineOf(argv[5]));
  long points = 0, ended = 0, bad = 0;
  for (long n = argc > 6 ? std::atol(argv[6]) : 1;; n += step) {
    const Outcome outcome = outcomeOf(argv + 1, n, expected);
    if (outcome == Rare)
      break;
    ++points;
    ended += outcome == Ended;
    bad += outcome == Wrong || outcome == Hung;
    if (outcome != Right)
      std::printf("N = %ld: %s\n", n, outcome == Wrong ? "wrong" : outcome == Hung ? "hung" : "ended the process");
  }
  require(points > 0, "no allocation failed");
  std::printf("%ld of %ld points ended the process (%.1f %%), %ld were wrong or hung\n", ended, points,
              100.0 * static_cast<double>(ended) / static_cast<double>(points), bad);
  const bool isGood = bad == 0 && 100.0 * static_cast<double>(ended) <= percent * static_cast<double>(points);
  std::printf("%ld passed, %ld failed\n", points - ended - bad, isGood ? 0 : ended + bad);
  return isGood ? 0 : 1;
}
