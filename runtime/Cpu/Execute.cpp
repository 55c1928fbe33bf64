//===- Execute.cpp - Runs launch steps ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The split is static and contiguous: chunk c of n gets [I·c/n, I·(c+1)/n), of the iterations of one step or of several that are
// independent. With one thread there is neither an allocation nor a lock.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Execute.h"

#include <algorithm>
#include <atomic>

namespace quern {
namespace {

/// Steps that run at once, as one space: their iterations laid end to end, each as long as it is estimated to take.
struct GroupRun {
  std::span<const Executable::Step> steps;
  int64_t total; ///< of the space: iterations if there is one step
  int chunks;
  void *const *buffers;
  void *shared;
  const ScratchNeeds &needs;
  const ExecutionContext &context;
  std::atomic<bool> outOfMemory{false};
};

/// The first place of a chunk: the remainder goes to the first chunks, one each.
int64_t chunkStart(int64_t total, int chunks, int chunk) { return total / chunks * chunk + std::min<int64_t>(total % chunks, chunk); }

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

/// What an iteration counts in the space of a group.
int64_t weightOf(const quern_entry_step_t &step) { return std::max<int64_t>(1, step.ns_per_iteration); }

/// Generated code has no type marks before its functions, which one sanitizer would look for.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void callStep(const GroupRun &run, const quern_entry_step_t &step, void *scratch, int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  if (!step.buffers) {
    const quern_kernel_args_t arguments{run.buffers, scratch, run.shared, run.context.sizes};
    return step.function(&arguments, begin, end);
  }
  void *named[maxStepBuffers];
  for (int32_t i = 0; i < step.buffer_count; ++i)
    named[i] = static_cast<char *>(run.buffers[step.buffers[i].argument]) + step.buffers[i].byte_offset;
  const quern_kernel_args_t arguments{named, scratch, run.shared, run.context.sizes};
  step.function(&arguments, begin, end);
}

/// What of [low, high) of the group's space each step has.
void callSteps(const GroupRun &run, void *scratch, int64_t low, int64_t high) {
  if (run.steps.size() == 1)
    return callStep(run, run.steps[0].call, scratch, low, high);
  int64_t start = 0;
  for (const Executable::Step &step : run.steps) {
    const int64_t weight = weightOf(step.call), length = iterationsOf(step.call, run.context.sizes) * weight;
    const auto firstFrom = [&](int64_t place) { return (std::clamp<int64_t>(place - start, 0, length) + weight - 1) / weight; };
    callStep(run, step.call, scratch, firstFrom(low), firstFrom(high));
    start += length;
  }
}

void runChunk(void *context, int chunk) {
  GroupRun &run = *static_cast<GroupRun *>(context);
  void *scratch = nullptr;
  if (run.needs.perThread > 0) {
    scratch = run.context.scratchpad ? scratchpadSlot(run.context.scratchpad, run.needs, chunk)
                                     : threadScratch(static_cast<size_t>(run.needs.perThread));
    if (!scratch) {
      run.outOfMemory.store(true, std::memory_order_relaxed);
      return;
    }
  }
  {
    DefaultFloatEnvironment environment;
    callSteps(run, scratch, chunkStart(run.total, run.chunks, chunk), chunkStart(run.total, run.chunks, chunk + 1));
  }
  if (scratch && !run.context.scratchpad)
    trimThreadScratch();
}

void runChunks(GroupRun &run) {
  DefaultFloatEnvironment environment; // the pool's own arithmetic must not leave flags in the caller's either
  if (run.context.pool)
    runOnPool(*run.context.pool, run.chunks, runChunk, &run);
  else
    runOnDefaultThreads(run.chunks, runChunk, &run);
}

struct GroupSize {
  int64_t total = 0; ///< of its space; -1 if that is beyond int64
  int usefulThreads = 1;
};

GroupSize sizeOf(std::span<const Executable::Step> steps, const int64_t *sizes) {
  const quern_entry_step_t &first = steps[0].call;
  if (steps.size() == 1) {
    if (!first.factor_count)
      return {first.iterations, steps[0].usefulThreads};
    const int64_t iterations = iterationsOf(first, sizes);
    return {iterations, usefulThreads(iterations, first.ns_per_iteration)};
  }
  GroupSize size;
  for (const Executable::Step &step : steps) {
    int64_t own = iterationsOf(step.call, sizes);
    if (own < 0 || __builtin_mul_overflow(own, weightOf(step.call), &own) || __builtin_add_overflow(size.total, own, &size.total))
      return {-1, 1};
  }
  size.usefulThreads = usefulThreads(size.total, 1);
  return size;
}

Result<void> runGroup(const Executable &executable, std::span<const Executable::Step> steps, void *const *buffers, void *shared,
                      const ExecutionContext &context) {
  const GroupSize size = sizeOf(steps, context.sizes);
  if (size.total < 0)
    return unimplemented("a launch step has more than ", INT64_MAX, " iterations");
  if (size.total == 0)
    return {};
  GroupRun run{steps, size.total, std::min(size.usefulThreads, context.threads), buffers, shared, executable.scratch(), context};
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
  const std::span<const Executable::Step> steps = executable.steps();
  for (size_t first = 0; first < steps.size(); first += steps[first].together)
    if (Result<void> done = runGroup(executable, steps.subspan(first, steps[first].together), buffers, shared, context); !done)
      return done;
  return {};
}

} // namespace quern
