//===- Execute.cpp - Runs launch steps ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The split is static and contiguous: chunk c of n gets [I·c/n, I·(c+1)/n). With one thread there is neither an allocation nor a lock.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"

#include "Cpu/Scratch.h"

#include <algorithm>
#include <atomic>

namespace quern {
namespace {

struct StepRun {
  quern_entry_step_t step;
  void *const *buffers;
  int64_t scratchBytes;
  void *scratchpad;
  int chunks;
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
  if (run.scratchBytes > 0) {
    scratch = run.scratchpad ? scratchpadSlot(run.scratchpad, run.scratchBytes, chunk)
                             : threadScratch(static_cast<size_t>(run.scratchBytes));
    if (!scratch) {
      run.outOfMemory.store(true, std::memory_order_relaxed);
      return;
    }
  }
  const quern_kernel_args_t arguments{run.buffers, scratch};
  {
    DefaultFloatEnvironment environment;
    const int64_t iterations = run.step.iterations;
    run.step.function(&arguments, chunkStart(iterations, run.chunks, chunk), chunkStart(iterations, run.chunks, chunk + 1));
  }
  if (scratch && !run.scratchpad)
    trimThreadScratch();
}

void runChunks(StepRun &run, threadpool_interop::threadpool_iface *pool) {
  DefaultFloatEnvironment environment; // the pool's own arithmetic must not leave flags in the caller's either
  if (pool)
    runOnPool(*pool, run.chunks, runChunk, &run);
  else
    runOnDefaultThreads(run.chunks, runChunk, &run);
}

} // namespace

Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context) {
  for (const Executable::Step &step : executable.steps()) {
    if (step.call.iterations == 0)
      continue;
    const int chunks = std::min(step.usefulThreads, context.threads);
    StepRun run{step.call, buffers, executable.scratchBytesPerThread(), context.scratchpad, chunks};
    if (run.chunks == 1)
      runChunk(&run, 0);
    else
      runChunks(run, context.pool);
    if (run.outOfMemory.load(std::memory_order_relaxed))
      return Error{Status::OutOfMemory, concat("no memory for ", run.scratchBytes, " bytes of scratch on each of ", chunks, " threads")};
  }
  return {};
}

} // namespace quern
