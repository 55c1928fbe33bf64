/*===- quern/quern_common.h - Engine, stream, settings, errors -------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Every function may be called from any thread at any time unless its comment
 * says otherwise. An object may be used by several threads at once as long as
 * none of them changes or destroys it. Destroying a null handle succeeds.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_COMMON_H
#define QUERN_COMMON_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors ------------------------------------------------------------ */

/**
 * Why the last failing call of this thread failed: one line that names the offending value and the limit (for a text
 * form three: the reason, the line, and a caret under the place). "" before any failure. Valid until the next failing
 * call of the same thread.
 */
QUERN_API const char *quern_get_last_error_message(void) QUERN_NOEXCEPT;

/** "invalid_arguments" and so on; "unknown" for a value outside the enumeration. Static. */
QUERN_API const char *quern_status_name(quern_status_t status) QUERN_NOEXCEPT;

/** Static. */
QUERN_API const quern_version_t *quern_version(void) QUERN_NOEXCEPT;

/* --- Engine: a device -------------------------------------------------- */

/**
 * Devices of a kind: 1 for quern_cpu, and for quern_gpu as many as Level Zero has GPUs, which is asked at the first
 * question. 0 without its loader or a driver, and on an error, which quern_engine_create() tells.
 */
QUERN_API size_t quern_engine_get_count(quern_engine_kind_t kind) QUERN_NOEXCEPT;

/** invalid_arguments: `index` is not below the count. */
QUERN_API quern_status_t quern_engine_create(
        quern_engine_t *engine, quern_engine_kind_t kind, size_t index) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_engine_get_kind(quern_engine_t engine, quern_engine_kind_t *kind) QUERN_NOEXCEPT;
/** Objects made with the engine keep what they need of it: the order of destruction does not matter. */
QUERN_API quern_status_t quern_engine_destroy(quern_engine_t engine) QUERN_NOEXCEPT;

/* --- Stream: an order of execution ------------------------------------- */

/**
 * `flags` is quern_stream_in_order, quern_stream_out_of_order or both, with or without quern_stream_profiling. On a CPU
 * an execution has finished when the call returns, and order makes no difference. On a device it goes on behind the
 * call: in order each execution begins when the one before has ended; out of order nothing but quern_stream_wait()
 * orders them.
 */
QUERN_API quern_status_t quern_stream_create(
        quern_stream_t *stream, quern_engine_t engine, unsigned flags) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_stream_get_engine(const_quern_stream_t stream, quern_engine_t *engine) QUERN_NOEXCEPT;
/** Returns once everything submitted has finished. */
QUERN_API quern_status_t quern_stream_wait(quern_stream_t stream) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_stream_destroy(quern_stream_t stream) QUERN_NOEXCEPT;

/** Forgets the recorded times. invalid_arguments without quern_stream_profiling. */
QUERN_API quern_status_t quern_reset_profiling(quern_stream_t stream) QUERN_NOEXCEPT;
/**
 * One duration in ns for each execution since the last reset. With a null `data` writes their number to `num_entries`;
 * otherwise `num_entries` says how many entries `data` has room for.
 */
QUERN_API quern_status_t quern_query_profiling_data(
        quern_stream_t stream, quern_profiling_data_kind_t data_kind, int *num_entries, uint64_t *data) QUERN_NOEXCEPT;

/* --- Settings of the process ------------------------------------------- */

/**
 * The mode that a new attribute object starts with. Initially QUERN_DEFAULT_FPMATH_MODE (strict, bf16, f16, tf32,
 * any), or strict.
 */
QUERN_API quern_status_t quern_get_default_fpmath_mode(quern_fpmath_mode_t *mode) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_set_default_fpmath_mode(quern_fpmath_mode_t mode) QUERN_NOEXCEPT;

/**
 * Caps the instruction set, like QUERN_MAX_CPU_ISA. Only before the first engine, primitive descriptor or
 * quern_get_effective_cpu_isa(): invalid_arguments afterwards. A level that Quern has no code for is rounded down to
 * one that it has.
 */
QUERN_API quern_status_t quern_set_max_cpu_isa(quern_cpu_isa_t isa) QUERN_NOEXCEPT;
/** What kernels are compiled for. */
QUERN_API quern_cpu_isa_t quern_get_effective_cpu_isa(void) QUERN_NOEXCEPT;

/**
 * 0: silent. 1: a line on standard output for each execution. 2: for each creation too. Initially QUERN_VERBOSE, or 0.
 */
QUERN_API quern_status_t quern_set_verbose(int level) QUERN_NOEXCEPT;

/**
 * Threads of an execution on a stream without a pool of its own, the calling one included. Initially QUERN_NUM_THREADS,
 * or the number of processors that the process may use. 1 to 4096. Results do not depend on it. The child of a fork
 * runs on the calling thread alone if its parent has had such threads, whatever is set: they are not there, and oneTBB
 * cannot be begun again. Streams with a pool of the child's own have that pool's threads.
 */
QUERN_API quern_status_t quern_set_num_threads(int count) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_get_num_threads(int *count) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_COMMON_H */
