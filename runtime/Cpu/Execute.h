//===- Execute.h - Executions on the CPU ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Splits the iteration space of each step over threads, and provides each call with scratch and with the floating-point
// environment that kernels expect.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_EXECUTE_H
#define QUERN_RUNTIME_CPU_EXECUTE_H

#include "Cpu/Context.h"
#include "Engine/Objects.h"
#include "Support/Forks.h"

namespace quern {

class Executable;

/// Returns the context for the embedder's pool. If it is null: for the default threads or, with `ownThreads`, for only
/// the calling thread.
ExecutionContext contextOn(threadpool_interop::threadpool_iface *pool, bool ownThreads);

/// Runs all steps. `buffers` are in the order of the executable's arguments. Fails with `out_of_memory` if scratch
/// could not be allocated; the outputs are then undefined.
Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context);

/// Executions are synchronous, so wait() does nothing.
class CpuStream final : public Stream {
public:
  /// Uses the default threads.
  CpuStream(Engine *engine, bool isProfiling) : Stream(engine, isProfiling) {}
  CpuStream(Engine *engine, threadpool_interop::threadpool_iface *pool)
      : Stream(engine, false), ownThreads(true), pool(pool) {}

  const bool ownThreads = false; ///< true if it uses the embedder's threads: `pool`, or only the calling thread
  threadpool_interop::threadpool_iface *const pool = nullptr;

  Result<void> execute(const Call &call, const EventLinks *links) override;
  Result<void> wait() override { return {}; }
  Result<std::vector<uint64_t>> profile() override;
  Result<void> resetProfile() override;

private:
  ForkMutex mutex; ///< guards the member below
  std::vector<uint64_t> durations;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_EXECUTE_H
