//===- Context.h - Where an execution runs --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_CONTEXT_H
#define QUERN_RUNTIME_CPU_CONTEXT_H

#include "Cpu/Threads.h"
#include "Support/Cancellation.h"
#include "Support/FloatControl.h"

namespace quern {

/// On which threads to run, and with whose scratch.
struct ExecutionContext {
  int threads = 1;                                      ///< at most
  threadpool_interop::threadpool_iface *pool = nullptr; ///< null: oneTBB
  void *scratchpad = nullptr;           ///< the caller's, with `threads` slots; null: buffers of the threads
  const int64_t *sizes = nullptr;       ///< the runtime sizes that the executable's program takes, none negative
  const int64_t *bufferBytes = nullptr; ///< of the arguments' buffers, for programs whose sizes are open; null: unknown
  const int64_t *numbers = nullptr;     ///< what the program makes of the sizes (Program::numbersFor); null: not known
};

/// Calls function(argument, chunk) for each chunk on the threads of `context`, and leaves the caller's
/// floating-point environment alone. Throws what a caller's pool throws.
inline void runOnThreads(const ExecutionContext &context, int chunks, ChunkFunction function, void *argument) {
  const WithoutCancellation whole;     // pools wait
  DefaultFloatEnvironment environment; // the pool's own arithmetic must not leave flags in the caller's either
  if (context.pool)
    runOnPool(*context.pool, chunks, function, argument);
  else
    runOnDefaultThreads(chunks, function, argument);
}

} // namespace quern

#endif // QUERN_RUNTIME_CPU_CONTEXT_H
