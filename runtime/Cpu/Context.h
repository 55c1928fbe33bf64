//===- Context.h - Threads and scratch of an execution --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_CONTEXT_H
#define QUERN_RUNTIME_CPU_CONTEXT_H

#include "Cpu/Threads.h"
#include "Support/Cancellation.h"
#include "Support/FloatControl.h"

namespace quern {

/// The threads and the scratch of an execution.
struct ExecutionContext {
  int threads = 1;                                      ///< maximum number of threads
  threadpool_interop::threadpool_iface *pool = nullptr; ///< null: oneTBB
  void *scratchpad = nullptr;           ///< the caller's, with `threads` slots; null: buffers of the threads
  const int64_t *sizes = nullptr;       ///< the open sizes of the executable's program, none negative
  const int64_t *bufferBytes = nullptr; ///< sizes of the arguments' buffers, for open programs; null: unknown
  const int64_t *numbers = nullptr;     ///< Program::numbersFor(sizes); null: unknown
};

/// Calls function(argument, chunk) for each chunk on the threads of `context`, and preserves the caller's
/// floating-point environment. Throws the exceptions of a caller's pool.
inline void runOnThreads(const ExecutionContext &context, int chunks, ChunkFunction function, void *argument) {
  const WithoutCancellation whole;     // pools have cancellation points
  DefaultFloatEnvironment environment; // the pool's own arithmetic must not set the caller's flags
  if (context.pool)
    runOnPool(*context.pool, chunks, function, argument);
  else
    runOnDefaultThreads(chunks, function, argument);
}

} // namespace quern

#endif // QUERN_RUNTIME_CPU_CONTEXT_H
