//===- Execute.cpp - Executions on the CPU --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The split is static and contiguous; the sizes of chunks differ by at most one iteration (chunkStart()). A single step
// takes the shortest path: with one thread it needs neither an allocation nor a lock. For a program with several steps,
// its numbers are computed first.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"

#include "Cpu/Team.h"
#include "Engine/Executable.h"
#include "Launch/Steps.h"
#include "Support/Clock.h"
#include "Support/StackArray.h"

#include <algorithm>
#include <atomic>

namespace quern {
namespace {

/// The iterations of one step, split into chunks.
struct StepRun {
  const KernelStep &step;
  int64_t total;
  int chunks;
  void *const *buffers;
  void *shared;
  const ScratchNeeds &needs;
  const ExecutionContext &context;
  std::atomic<bool> outOfMemory{false};
};

void callStep(const StepRun &run, void *scratch, int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  void *named[maxStepBuffers];
  invoke(run.step, {plainBuffersOf(run.step, run.buffers, named), scratch, run.shared, run.context.sizes}, begin, end);
}

void runChunk(void *context, int chunk) {
  StepRun &run = *static_cast<StepRun *>(context);
  const SlotScratch scratch(run.context.scratchpad, run.needs, chunk);
  if (!scratch.isThere()) {
    run.outOfMemory.store(true, std::memory_order_relaxed);
    return;
  }
  DefaultFloatEnvironment environment;
  callStep(run, scratch.data(), chunkStart(run.total, run.chunks, chunk), chunkStart(run.total, run.chunks, chunk + 1));
}

Error noSharedMemory(int64_t bytes) {
  return {Status::OutOfMemory, concat("no memory for ", bytes, " bytes of scratch that the threads share")};
}

Result<void> runStep(const Executable &executable, void *const *buffers, void *shared,
                     const ExecutionContext &context) {
  const KernelStep &step = executable.steps()[0];
  int64_t total = step.iterations;
  int threads = executable.program().plainThreads();
  if (!step.factors.empty()) {
    total = context.numbers ? *context.numbers : iterationsOf(step, context.sizes);
    if (total < 0)
      return unimplemented("a launch step has more than ", INT64_MAX, " iterations");
    threads = usefulThreads(total, step.nsPerIteration);
  }
  if (total == 0)
    return {};
  StepRun run{step, total, std::min(threads, context.threads), buffers, shared, executable.scratch(), context};
  if (run.chunks == 1)
    runChunk(&run, 0);
  else
    runOnThreads(context, run.chunks, runChunk, &run);
  if (run.outOfMemory.load(std::memory_order_relaxed))
    return noSlotMemory(run.needs, run.chunks);
  return {};
}

/// Runs a program whose numbers are known.
Result<void> runBound(const Executable &executable, void *const *buffers, const int64_t *bound, const int64_t *sizes,
                      const ExecutionContext &context) {
  const Program &program = executable.program();
  const Result<int64_t> bytes = executable.sharedBytes(program.regionsEnd(bound));
  if (!bytes)
    return bytes.error();
  const SharedScratch owned(context.scratchpad ? 0 : static_cast<size_t>(*bytes));
  void *shared = *bytes == 0 ? nullptr : context.scratchpad ? scratchpadShared(context.scratchpad) : owned.data();
  if (*bytes > 0 && !shared)
    return noSharedMemory(*bytes);
  char *regions = static_cast<char *>(shared) + (shared ? executable.regionsStart() : 0);
  const ProgramRun run{program, bound, buffers, sizes, shared, regions};
  return runProgram(run, executable.scratch(), context);
}

Result<void> bindAndRun(const Executable &executable, void *const *buffers, const ExecutionContext &context) {
  const Program &program = executable.program();
  const size_t derived = program.derivedSizeCount();
  const bool copiesSizes = derived || program.checksSizes();
  const size_t count = copiesSizes ? program.sizeCount() + derived : 0;
  StackArray<int64_t, 128> numbers(count + program.numberCount());
  int64_t *sizes = numbers.data(), *bound = sizes + count;
  if (copiesSizes)
    QUERN_RETURN_IF_ERROR(program.deriveSizes(buffers, context.sizes, sizes));
  const int64_t *all = copiesSizes ? sizes : context.sizes;
  QUERN_RETURN_IF_ERROR(program.bind(all, context.bufferBytes, bound));
  return runBound(executable, buffers, bound, all, context);
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
  const Program &program = executable.program();
  if (!program.isPlain()) {
    const int64_t *fixed = context.numbers ? context.numbers : program.fixedNumbers();
    return fixed ? runBound(executable, buffers, fixed, context.sizes, context)
                 : bindAndRun(executable, buffers, context);
  }
  const int64_t sharedBytes = executable.scratch().shared;
  const SharedScratch owned(context.scratchpad ? 0 : static_cast<size_t>(sharedBytes));
  void *shared = sharedBytes == 0 ? nullptr : context.scratchpad ? scratchpadShared(context.scratchpad) : owned.data();
  if (sharedBytes > 0 && !shared)
    return noSharedMemory(sharedBytes);
  return runStep(executable, buffers, shared, context);
}

Result<void> CpuStream::execute(const Call &call, const EventLinks *) {
  ExecutionContext context = contextOn(pool, ownThreads);
  context.sizes = call.sizes;
  context.numbers = call.numbers;
  // The condition avoids a store that a combined load of this and `sizes` would wait for.
  if (!call.numbers && call.executable->program().isOpen())
    context.bufferBytes = call.bufferBytes;
  context.scratchpad = call.scratchpad;
  if (call.scratchpad)
    context.threads = std::min(context.threads, call.scratchpadThreads);
  const int64_t start = isProfiling ? nowNs() : 0;
  Result<void> done = runSteps(*call.executable, call.buffers.data(), context);
  if (isProfiling && done) {
    const int64_t ns = nowNs() - start;
    std::lock_guard lock(mutex);
    durations.push_back(static_cast<uint64_t>(ns));
  }
  return done;
}

Result<std::vector<uint64_t>> CpuStream::profile() {
  std::lock_guard lock(mutex);
  return durations;
}

Result<void> CpuStream::resetProfile() {
  std::lock_guard lock(mutex);
  durations.clear();
  return {};
}

} // namespace quern
