//===- Threads.h - One parallel-for for every kernel ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs a function once for each chunk of a launch step: on oneTBB by default, on the embedder's pool if the stream has
// one, otherwise on the calling thread. Which thread runs which chunk is left to the pool; results do not depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_THREADS_H
#define QUERN_RUNTIME_CPU_THREADS_H

#include "quern/quern_threadpool_iface.hpp"

#include "Launch/Steps.h"
#include "Support/Error.h"

namespace quern {

/// Called once for each chunk, possibly at the same time on several threads. Must not throw.
using ChunkFunction = void (*)(void *context, int chunk);

/// QUERN_NUM_THREADS, or the processors that this process may run on; or what was set. Cheap.
int defaultThreadCount();
/// `invalid_arguments` outside 1..maxThreadCount. Executions that have begun keep their threads.
Result<void> setDefaultThreadCount(int count);

/// Calls function(context, chunk) for chunk in [0, chunks) in an arena of defaultThreadCount() threads and waits. In
/// the child of a fork whose parent has done so, and from the first call on for which oneTBB has no memory or no
/// threads, the calling thread runs all chunks.
void runOnDefaultThreads(int chunks, ChunkFunction function, void *context);
/// The same on the embedder's pool, whatever its flags.
void runOnPool(threadpool_interop::threadpool_iface &pool, int chunks, ChunkFunction function, void *context);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_THREADS_H
