/*===- quern/quern_ze.h - Engines, streams and events of Level Zero --------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * For programs that use Level Zero themselves: shaped like oneDNN's dnnl_ze.h.
 * What is lent here is never destroyed, and must outlive what was made of it:
 * primitives, memory and streams, and the engine, which goes last.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_ZE_H
#define QUERN_ZE_H

#include "quern/quern_memory.h"
#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As in level_zero/ze_api.h, which is not needed here, and may be included before or after. */
typedef struct _ze_driver_handle_t *ze_driver_handle_t;
typedef struct _ze_device_handle_t *ze_device_handle_t;
typedef struct _ze_context_handle_t *ze_context_handle_t;
typedef struct _ze_command_list_handle_t *ze_command_list_handle_t;
typedef struct _ze_event_handle_t *ze_event_handle_t;

/**
 * An engine of kind quern_gpu on a device and context of the caller's. runtime_error: there is no loader, or the
 * driver fails.
 */
QUERN_API quern_status_t quern_ze_interop_engine_create(quern_engine_t *engine, ze_driver_handle_t driver,
        ze_device_handle_t device, ze_context_handle_t context) QUERN_NOEXCEPT;
/**
 * What an engine keeps from process to process, in bytes of the caller's; with null for them only *size is set. An
 * engine of Quern keeps no kernels (primitives have cache blobs, with what the driver made of them): its blob says what
 * it was made for, and the id is what to file it by. invalid_arguments: *size is too small, or at creation the blob is
 * of another device, driver or build.
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_cache_blob_id(
        ze_driver_handle_t driver, ze_device_handle_t device, size_t *size, uint8_t *cache_blob_id) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_ze_interop_engine_get_cache_blob(
        quern_engine_t engine, size_t *size, uint8_t *cache_blob) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_ze_interop_engine_create_from_cache_blob(quern_engine_t *engine,
        ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context, size_t size,
        const uint8_t *cache_blob) QUERN_NOEXCEPT;
/** Of any engine of kind quern_gpu; invalid_arguments for another. They stay the engine's, or whose they were. */
QUERN_API quern_status_t quern_ze_interop_engine_get_context(
        quern_engine_t engine, ze_context_handle_t *context) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_ze_interop_engine_get_device(
        quern_engine_t engine, ze_device_handle_t *device) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_ze_interop_engine_get_driver(
        quern_engine_t engine, ze_driver_handle_t *driver) QUERN_NOEXCEPT;

/**
 * A stream that appends to an immediate command list of the caller's, in order among themselves; with `profiling` not 0
 * their times are kept. What the caller appends is ordered by events or barriers of the caller's. invalid_arguments:
 * not an engine of Level Zero.
 */
QUERN_API quern_status_t quern_ze_interop_stream_create(
        quern_stream_t *stream, quern_engine_t engine, ze_command_list_handle_t list, int profiling) QUERN_NOEXCEPT;
/** The command list that single launches go to, of any stream on a device. */
QUERN_API quern_status_t quern_ze_interop_stream_get_list(
        quern_stream_t stream, ze_command_list_handle_t *list) QUERN_NOEXCEPT;

/**
 * quern_memory_create_v2() for an engine of Level Zero: handles are device, host or shared memory of its context,
 * QUERN_MEMORY_ALLOCATE or QUERN_MEMORY_NONE.
 */
QUERN_API quern_status_t quern_ze_interop_memory_create(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, int nhandles, void **handles) QUERN_NOEXCEPT;

/**
 * quern_primitive_execute() behind `ndeps` events. With `return_event` not null the caller gets an event that is
 * signalled when the execution has ended, or null if it fails. It is the stream's, which reuses it after 1024 more
 * executions that return one, and must not be destroyed or reset.
 */
QUERN_API quern_status_t quern_ze_interop_primitive_execute(const_quern_primitive_t primitive, quern_stream_t stream,
        int nargs, const quern_exec_arg_t *args, int ndeps, const ze_event_handle_t *deps,
        ze_event_handle_t *return_event) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ZE_H */
