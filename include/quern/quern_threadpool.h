/*===- quern/quern_threadpool.h - Streams on the embedder's thread pool ----===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A pool is an object of quern::threadpool_interop::threadpool_iface
 * (quern_threadpool_iface.hpp) that is passed as void *. The caller owns it.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_THREADPOOL_H
#define QUERN_THREADPOOL_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a stream whose executions run on a thread pool.
 * @param stream Receives the stream, which the caller owns (quern_stream_destroy()).
 * @param engine A CPU engine.
 * @param threadpool A caller-owned threadpool_iface that outlives the stream; null: executions run on the calling
 *         thread.
 * @return quern_success; quern_invalid_arguments: the engine is a GPU.
 */
QUERN_API quern_status_t quern_threadpool_interop_stream_create(
        quern_stream_t *stream, quern_engine_t engine, void *threadpool) QUERN_NOEXCEPT;

/**
 * Returns the thread pool of a stream.
 * @param stream A stream of quern_threadpool_interop_stream_create().
 * @param threadpool Receives the pool, which the caller of that function owns.
 * @return quern_success; quern_invalid_arguments: the stream was created by another function.
 */
QUERN_API quern_status_t quern_threadpool_interop_stream_get_threadpool(
        quern_stream_t stream, void **threadpool) QUERN_NOEXCEPT;

/**
 * Sets the number of threads for which scratchpads are sized, for primitive descriptors that this thread creates from
 * now on. The default is the number of default threads.
 *
 * @param max_concurrency 1 to 4096.
 * @return quern_success; quern_invalid_arguments: the number is out of range.
 */
QUERN_API quern_status_t quern_threadpool_interop_set_max_concurrency(int max_concurrency) QUERN_NOEXCEPT;

/**
 * Returns the number of threads for which primitive descriptors of the calling thread size scratchpads.
 * @param max_concurrency Receives the number.
 * @return quern_success; quern_invalid_arguments: the pointer is null.
 */
QUERN_API quern_status_t quern_threadpool_interop_get_max_concurrency(int *max_concurrency) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_THREADPOOL_H */
