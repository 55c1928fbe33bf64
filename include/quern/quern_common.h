/*===- quern/quern_common.h - Engine, stream, settings, errors -------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * These rules hold for every function unless its comment says otherwise:
 * - It may be called from any thread at any time. Several threads may use an
 *   object at the same time as long as no thread changes or destroys it.
 * - A pointer must not be null; quern_invalid_arguments otherwise. A function
 *   that creates an object writes null to its handle if it fails. Destroying a
 *   null handle succeeds.
 * - Any function that returns a status may return quern_out_of_memory and
 *   quern_internal_error (a defect of Quern) in addition to those listed.
 * - Descriptors, attributes and strings that are passed are copied, and may be
 *   destroyed after the call.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_COMMON_H
#define QUERN_COMMON_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors ------------------------------------------------------------ */

/**
 * Returns the reason for this thread's last failure: one line that names the offending value and the limit. After a
 * syntax error in a text form it has three lines: the reason, the line, and a caret under the position.
 *
 * @return A string that the library owns, valid until the next failing call of the same thread; "" before any failure.
 */
QUERN_API const char *quern_get_last_error_message(void) QUERN_NOEXCEPT;

/**
 * Returns the name of a status without its prefix, such as "invalid_arguments".
 * @param status A status; any value is allowed.
 * @return A static string; "unknown" for a value outside the enumeration.
 */
QUERN_API const char *quern_status_name(quern_status_t status) QUERN_NOEXCEPT;

/**
 * Returns the version of the library.
 * @return A static structure.
 */
QUERN_API const quern_version_t *quern_version(void) QUERN_NOEXCEPT;

/* --- Engine: a CPU or a device ----------------------------------------- */

/**
 * Returns the number of engines of a kind: 1 for quern_cpu; for quern_gpu the number of GPUs that Level Zero reports.
 * The first call for quern_gpu loads the Level Zero loader. Devices that lack a required feature are not counted.
 *
 * @param kind quern_cpu or quern_gpu; for any other kind the result is 0.
 * @return The number of engines. 0 if the loader or a driver is missing, in a child process of a fork whose parent has
 *         used a device, or on an error, which quern_engine_create() reports.
 */
QUERN_API size_t quern_engine_get_count(quern_engine_kind_t kind) QUERN_NOEXCEPT;

/**
 * Creates an engine: a handle of the CPU or of one device.
 * @param engine Receives the engine, which the caller owns (quern_engine_destroy()).
 * @param kind quern_cpu or quern_gpu.
 * @param index Number of the engine, below quern_engine_get_count().
 * @return quern_success; quern_invalid_arguments: the kind is unknown or `index` is not below the count;
 *         quern_runtime_error or quern_unimplemented: Level Zero reports an error.
 */
QUERN_API quern_status_t quern_engine_create(
        quern_engine_t *engine, quern_engine_kind_t kind, size_t index) QUERN_NOEXCEPT;

/**
 * Returns the kind of an engine.
 * @param engine An engine.
 * @param kind Receives the kind.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_engine_get_kind(quern_engine_t engine, quern_engine_kind_t *kind) QUERN_NOEXCEPT;

/**
 * Destroys an engine handle. Objects that were created with the engine keep a reference to it, so the order of
 * destruction is free; only the handles that quern_ze_interop_engine_create() borrowed must outlive all of them.
 *
 * @param engine An engine or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_engine_destroy(quern_engine_t engine) QUERN_NOEXCEPT;

/* --- Stream: a queue of executions ------------------------------------- */

/**
 * Creates a stream. On a CPU an execution has finished when the call returns, so the order flags make no difference. On
 * a device executions run asynchronously: in order, each starts when the one before has ended; out of order, only
 * quern_stream_wait() orders them.
 *
 * @param stream Receives the stream, which the caller owns (quern_stream_destroy()).
 * @param engine The engine of the stream; may be destroyed before the stream.
 * @param flags quern_stream_in_order, quern_stream_out_of_order or both, optionally with quern_stream_profiling.
 * @return quern_success; quern_invalid_arguments: the flags contain no order or unknown bits; quern_runtime_error: the
 *         device fails.
 */
QUERN_API quern_status_t quern_stream_create(
        quern_stream_t *stream, quern_engine_t engine, unsigned flags) QUERN_NOEXCEPT;

/**
 * Returns the engine of a stream.
 * @param stream A stream.
 * @param engine Receives the engine, which the stream owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_stream_get_engine(const_quern_stream_t stream, quern_engine_t *engine) QUERN_NOEXCEPT;

/**
 * Waits until all executions that were submitted to a stream have finished.
 * @param stream A stream.
 * @return quern_success; quern_invalid_arguments: `stream` is null; quern_runtime_error: the device fails.
 */
QUERN_API quern_status_t quern_stream_wait(quern_stream_t stream) QUERN_NOEXCEPT;

/**
 * Waits for the executions of a stream and destroys it.
 * @param stream A stream or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_stream_destroy(quern_stream_t stream) QUERN_NOEXCEPT;

/**
 * Discards the recorded times of a stream.
 * @param stream A stream with quern_stream_profiling.
 * @return quern_success; quern_invalid_arguments: the stream does not have quern_stream_profiling; quern_runtime_error:
 *         the device fails.
 */
QUERN_API quern_status_t quern_reset_profiling(quern_stream_t stream) QUERN_NOEXCEPT;

/**
 * Returns the duration of each execution since the last reset, in ns. Waits for the executions first.
 * @param stream A stream with quern_stream_profiling.
 * @param data_kind quern_profiling_data_kind_time.
 * @param num_entries Number of entries that `data` has room for, if `data` is not null. Receives the number of
 *         durations.
 * @param data Receives the durations in order of submission; null: only the number is written.
 * @return quern_success; quern_invalid_arguments: the stream does not have quern_stream_profiling, the kind is unknown,
 *         or `data` is too short; quern_runtime_error: the device fails.
 */
QUERN_API quern_status_t quern_query_profiling_data(
        quern_stream_t stream, quern_profiling_data_kind_t data_kind, int *num_entries, uint64_t *data) QUERN_NOEXCEPT;

/* --- Settings of the process ------------------------------------------- */

/**
 * Returns the mode that new attribute objects start with. The initial value is QUERN_DEFAULT_FPMATH_MODE (strict, bf16,
 * f16, tf32 or any), or strict if that is unset or unknown.
 *
 * @param mode Receives the mode.
 * @return quern_success; quern_invalid_arguments: `mode` is null.
 */
QUERN_API quern_status_t quern_get_default_fpmath_mode(quern_fpmath_mode_t *mode) QUERN_NOEXCEPT;

/**
 * Sets the mode that new attribute objects start with. Existing ones keep theirs.
 * @param mode A mode.
 * @return quern_success; quern_invalid_arguments: the mode is unknown.
 */
QUERN_API quern_status_t quern_set_default_fpmath_mode(quern_fpmath_mode_t mode) QUERN_NOEXCEPT;

/**
 * Limits the instruction set of kernels, like QUERN_MAX_CPU_ISA. Must be called before the first engine, primitive
 * descriptor or quern_get_effective_cpu_isa().
 *
 * @param isa The highest level; a level for which Quern has no code, or that the machine lacks, is rounded down. On
 *         AArch64 the order is neon, neon_dotprod, neon_bf16, sve, sve_bf16. A level of another architecture has no
 *         effect, so a program may set one for each architecture.
 * @return quern_success; quern_invalid_arguments: the level is unknown, or the instruction set is already in use.
 */
QUERN_API quern_status_t quern_set_max_cpu_isa(quern_cpu_isa_t isa) QUERN_NOEXCEPT;

/**
 * Returns the instruction set that kernels of the CPU engine are compiled for. From then on quern_set_max_cpu_isa()
 * fails.
 *
 * @return A level of the architecture of the machine.
 */
QUERN_API quern_cpu_isa_t quern_get_effective_cpu_isa(void) QUERN_NOEXCEPT;

/**
 * Sets the verbose level. The initial level is QUERN_VERBOSE, or 0.
 * @param level 0: silent; 1: one line on standard output per execution; 2: also one line per creation.
 * @return quern_success; quern_invalid_arguments: the level is not 0 to 2.
 */
QUERN_API quern_status_t quern_set_verbose(int level) QUERN_NOEXCEPT;

/**
 * Sets the number of threads of an execution on a stream without its own thread pool, the calling thread included. The
 * initial value is QUERN_NUM_THREADS, or the number of processors that the process may use. Results are independent of
 * the number.
 *
 * In the child process of a fork, executions run only on the calling thread if the parent has started such threads:
 * they do not exist in the child, and oneTBB cannot be initialized again. Streams with a thread pool of the child use
 * that pool.
 *
 * @param count 1 to 4096.
 * @return quern_success; quern_invalid_arguments: the number is out of range.
 */
QUERN_API quern_status_t quern_set_num_threads(int count) QUERN_NOEXCEPT;

/**
 * Returns the number of threads that quern_set_num_threads() sets.
 * @param count Receives the number.
 * @return quern_success; quern_invalid_arguments: `count` is null.
 */
QUERN_API quern_status_t quern_get_num_threads(int *count) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_COMMON_H */
