/*===- quern/quern_threadpool.h - Streams on the embedder's thread pool ----===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A pool is an object of quern::threadpool_interop::threadpool_iface
 * (quern_threadpool_iface.hpp), passed as void *. It must outlive its streams.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_THREADPOOL_H
#define QUERN_THREADPOOL_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A stream whose executions run on `threadpool`; null: on the calling thread alone. */
QUERN_API quern_status_t quern_threadpool_interop_stream_create(
        quern_stream_t *stream, quern_engine_t engine, void *threadpool) QUERN_NOEXCEPT;
/** invalid_arguments: the stream was not made by quern_threadpool_interop_stream_create(). */
QUERN_API quern_status_t quern_threadpool_interop_stream_get_threadpool(
        quern_stream_t stream, void **threadpool) QUERN_NOEXCEPT;
/**
 * How many threads scratchpads of primitive descriptors made by this thread from now on provide for. Initially the
 * default threads.
 */
QUERN_API quern_status_t quern_threadpool_interop_set_max_concurrency(int max_concurrency) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_threadpool_interop_get_max_concurrency(int *max_concurrency) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_THREADPOOL_H */
