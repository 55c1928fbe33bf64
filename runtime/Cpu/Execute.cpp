//===- Execute.cpp - Runs launch steps ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The split is static and contiguous: chunk c of n gets [I·c/n, I·(c+1)/n). With one thread there is neither an allocation nor a lock.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"

#include <algorithm>
#include <atomic>

namespace quern {
namespace {

struct StepRun {
  quern_kernel_fn function;
  int64_t iterations;
  int chunks;
  void *const *buffers;
  void *shared;
  const ScratchNeeds &needs;
  const ExecutionContext &context;
  std::atomic<bool> outOfMemory{false};
};

/// The first iteration of a chunk: the remainder goes to the first chunks, one each.
int64_t chunkStart(int64_t iterations, int chunks, int chunk) {
  return iterations / chunks * chunk + std::min<int64_t>(iterations % chunks, chunk);
}

/// Generated code has no type marks before its functions, which one sanitizer would look for.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void runChunk(void *context, int chunk) {
  StepRun &run = *static_cast<StepRun *>(context);
  void *scratch = nullptr;
  if (run.needs.perThread > 0) {
    scratch = run.context.scratchpad ? scratchpadSlot(run.context.scratchpad, run.needs, chunk)
                                     : threadScratch(static_cast<size_t>(run.needs.perThread));
    if (!scratch) {
      run.outOfMemory.store(true, std::memory_order_relaxed);
      return;
    }
  }
  const quern_kernel_args_t arguments{run.buffers, scratch, run.shared, run.context.sizes};
  {
    DefaultFloatEnvironment environment;
    run.function(&arguments, chunkStart(run.iterations, run.chunks, chunk), chunkStart(run.iterations, run.chunks, chunk + 1));
  }
  if (scratch && !run.context.scratchpad)
    trimThreadScratch();
}

void runChunks(StepRun &run) {
  DefaultFloatEnvironment environment; // the pool's own arithmetic must not leave flags in the caller's either
  if (run.context.pool)
    runOnPool(*run.context.pool, run.chunks, runChunk, &run);
  else
    runOnDefaultThreads(run.chunks, runChunk, &run);
}

/// The iterations of a step with runtime sizes; -1 if they are beyond int64.
int64_t iterationsOf(const quern_entry_step_t &step, const int64_t *sizes) {
  int64_t iterations = step.iterations;
  for (const quern_entry_factor_t &factor : std::span(step.factors, static_cast<size_t>(step.factor_count))) {
    const int64_t size = sizes[factor.size_index];
    if (__builtin_mul_overflow(iterations, size / factor.divisor + (size % factor.divisor > 0), &iterations))
      return -1;
  }
  return iterations;
}

Result<void> runStep(const Executable &executable, const Executable::Step &step, void *const *buffers, void *shared,
                     const ExecutionContext &context) {
  int64_t iterations = step.call.iterations;
  int useful = step.usefulThreads;
  if (step.call.factor_count) {
    iterations = iterationsOf(step.call, context.sizes);
    if (iterations < 0)
      return unimplemented("a launch step has more than ", INT64_MAX, " iterations");
    useful = usefulThreads(iterations, step.call.ns_per_iteration);
  }
  if (iterations == 0)
    return {};
  StepRun run{step.call.function, iterations, std::min(useful, context.threads), buffers, shared, executable.scratch(), context};
  if (run.chunks == 1)
    runChunk(&run, 0);
  else
    runChunks(run);
  if (run.outOfMemory.load(std::memory_order_relaxed))
    return Error{Status::OutOfMemory,
                 concat("no memory for ", run.needs.perThread, " bytes of scratch on each of ", run.chunks, " threads")};
  return {};
}

} // namespace

ExecutionContext contextOn(threadpool_interop::threadpool_iface *pool, bool ownThreads) {
  ExecutionContext context;
  context.pool = pool;
  if (!ownThreads)
    context.threads = defaultThreadCount();
  else if (pool && !pool->get_in_parallel())
    context.threads = std::clamp(pool->get_num_threads(), 1, maxThreadCount);
  return context;
}

Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context) {
  const int64_t sharedBytes = executable.scratch().shared;
  const SharedScratch owned(context.scratchpad ? 0 : static_cast<size_t>(sharedBytes));
  void *shared = sharedBytes == 0 ? nullptr : context.scratchpad ? scratchpadShared(context.scratchpad) : owned.data();
  if (sharedBytes > 0 && !shared)
    return Error{Status::OutOfMemory, concat("no memory for ", sharedBytes, " bytes of scratch that the threads share")};
  for (const Executable::Step &step : executable.steps())
    if (Result<void> done = runStep(executable, step, buffers, shared, context); !done)
      return done;
  return {};
}

} // namespace quern
