//===- Threads.h - Parallel execution of kernels --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs a function once for each chunk of a launch step: on oneTBB by default, or for a stream with the embedder's
// threads, on the embedder's pool or, without a pool, on the calling thread. The pool assigns chunks to threads;
// results do not depend on the assignment.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_THREADS_H
#define QUERN_RUNTIME_CPU_THREADS_H

#include "quern/quern_threadpool_iface.hpp"

#include "Launch/Steps.h"
#include "Support/Error.h"

namespace quern {

/// Called once for each chunk, possibly concurrently. Must not throw.
using ChunkFunction = void (*)(void *context, int chunk);

/// Returns the number that was set; by default QUERN_NUM_THREADS, or the number of processors that this process may
/// use. Cheap.
int defaultThreadCount();
/// Sets the number of default threads. Fails with `invalid_arguments` if it is not 1 to maxThreadCount. Running
/// executions keep their threads.
Result<void> setDefaultThreadCount(int count);

/// Calls function(context, chunk) for chunk in [0, chunks) in an arena of defaultThreadCount() threads and waits. The
/// calling thread runs all chunks in the child of a fork whose parent used oneTBB, and after oneTBB has once run out of
/// memory or threads.
void runOnDefaultThreads(int chunks, ChunkFunction function, void *context);
/// Like runOnDefaultThreads(), but on the embedder's pool. Waits even if the pool is asynchronous.
void runOnPool(threadpool_interop::threadpool_iface &pool, int chunks, ChunkFunction function, void *context);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_THREADS_H
