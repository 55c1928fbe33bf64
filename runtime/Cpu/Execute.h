//===- Execute.h - Executions on the CPU ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Splits the iteration space of each step over threads, gives every call its scratch and the floating-point
// environment that kernels expect.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_EXECUTE_H
#define QUERN_RUNTIME_CPU_EXECUTE_H

#include "Core/Objects.h"
#include "Cpu/Context.h"
#include "Support/Forks.h"

namespace quern {

class Executable;

/// On the pool that an embedder gives; without one, on the default threads, or with `ownThreads`
/// on the calling one alone.
ExecutionContext contextOn(threadpool_interop::threadpool_iface *pool, bool ownThreads);

/// Runs every step. `buffers` are in the order of the executable's arguments. `out_of_memory`: no
/// scratch, outputs undefined.
Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context);

/// Executions have ended when the call returns, so that there is nothing to wait for.
class CpuStream final : public Stream {
public:
  /// On the default threads.
  CpuStream(Engine *engine, bool isProfiling) : Stream(engine, isProfiling) {}
  CpuStream(Engine *engine, threadpool_interop::threadpool_iface *pool)
      : Stream(engine, false), ownThreads(true), pool(pool) {}

  const bool ownThreads = false; ///< made for the embedder's threads: `pool`, or the calling thread alone
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
