/*===- quern/quern_ze.h - Engines, streams and events of Level Zero --------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * For programs that use Level Zero themselves, in the form of oneDNN's dnnl_ze.h.
 * Handles that are passed here stay owned by the caller and must outlive the
 * primitives, memory objects and streams created with them, and the engine,
 * which must be destroyed last.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_ZE_H
#define QUERN_ZE_H

#include "quern/quern_memory.h"
#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These declarations repeat those of level_zero/ze_api.h, which may be included before or after this file. */
typedef struct _ze_driver_handle_t *ze_driver_handle_t;             /**< a driver */
typedef struct _ze_device_handle_t *ze_device_handle_t;             /**< a device */
typedef struct _ze_context_handle_t *ze_context_handle_t;           /**< a context */
typedef struct _ze_command_list_handle_t *ze_command_list_handle_t; /**< a command list */
typedef struct _ze_event_handle_t *ze_event_handle_t;               /**< an event */

/**
 * Creates an engine of kind quern_gpu on a device and context of the caller.
 * @param engine Receives the engine, which the caller owns (quern_engine_destroy()).
 * @param driver,device,context Handles that the caller owns. They must outlive the engine and all objects created with
 *         it.
 * @return quern_success; quern_unimplemented: the device lacks a required feature; quern_runtime_error: the loader is
 *         missing, or Level Zero fails.
 */
QUERN_API quern_status_t quern_ze_interop_engine_create(quern_engine_t *engine, ze_driver_handle_t driver,
        ze_device_handle_t device, ze_context_handle_t context) QUERN_NOEXCEPT;

/**
 * Returns an identifier under which a program can store the cache blob of an engine.
 * @param driver,device Handles that the caller owns.
 * @param size Bytes that `cache_blob_id` has room for, if that is not null. Receives the size in bytes.
 * @param cache_blob_id Receives the identifier; null: only the size is written.
 * @return quern_success; quern_invalid_arguments: `*size` is too small; quern_unimplemented or quern_runtime_error: as
 *         quern_ze_interop_engine_create().
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_cache_blob_id(
        ze_driver_handle_t driver, ze_device_handle_t device, size_t *size, uint8_t *cache_blob_id) QUERN_NOEXCEPT;

/**
 * Returns the cache blob of an engine. It identifies the device, driver, build and target of the engine and contains no
 * kernels: these are in the cache blobs of primitives, with the binaries of the driver.
 *
 * @param engine An engine of Level Zero.
 * @param size Bytes that `cache_blob` has room for, if that is not null. Receives the size in bytes.
 * @param cache_blob Receives the bytes; null: only the size is written.
 * @return quern_success; quern_invalid_arguments: `*size` is too small, or the engine is a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_cache_blob(
        quern_engine_t engine, size_t *size, uint8_t *cache_blob) QUERN_NOEXCEPT;

/**
 * Like quern_ze_interop_engine_create(), but checks that a cache blob is of the same device, driver and build.
 * @param engine Receives the engine, which the caller owns (quern_engine_destroy()).
 * @param driver,device,context As in quern_ze_interop_engine_create().
 * @param size Size of the blob in bytes.
 * @param cache_blob Bytes from quern_ze_interop_engine_get_cache_blob().
 * @return As quern_ze_interop_engine_create(); quern_invalid_arguments: the blob is of another device, driver or build.
 */
QUERN_API quern_status_t quern_ze_interop_engine_create_from_cache_blob(quern_engine_t *engine,
        ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context, size_t size,
        const uint8_t *cache_blob) QUERN_NOEXCEPT;

/**
 * Returns the context of an engine of kind quern_gpu.
 * @param engine The engine.
 * @param context Receives the handle, whose owner stays the same.
 * @return quern_success; quern_invalid_arguments: the engine is a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_context(
        quern_engine_t engine, ze_context_handle_t *context) QUERN_NOEXCEPT;

/**
 * Returns the device of an engine of kind quern_gpu.
 * @param engine The engine.
 * @param device Receives the handle, whose owner stays the same.
 * @return quern_success; quern_invalid_arguments: the engine is a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_device(
        quern_engine_t engine, ze_device_handle_t *device) QUERN_NOEXCEPT;

/**
 * Returns the driver of an engine of kind quern_gpu.
 * @param engine The engine.
 * @param driver Receives the handle, whose owner stays the same.
 * @return quern_success; quern_invalid_arguments: the engine is a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_engine_get_driver(
        quern_engine_t engine, ze_driver_handle_t *driver) QUERN_NOEXCEPT;

/**
 * Creates a stream that appends executions to an immediate command list of the caller, in order among themselves. The
 * caller orders its own commands by events or barriers.
 *
 * @param stream Receives the stream, which the caller owns (quern_stream_destroy()).
 * @param engine An engine of Level Zero.
 * @param list A command list that the caller owns and that outlives the stream.
 * @param profiling Nonzero: records the time of each execution.
 * @return quern_success; quern_invalid_arguments: the engine is a CPU; quern_runtime_error: Level Zero fails.
 */
QUERN_API quern_status_t quern_ze_interop_stream_create(
        quern_stream_t *stream, quern_engine_t engine, ze_command_list_handle_t list, int profiling) QUERN_NOEXCEPT;

/**
 * Returns the command list to which a stream on a device appends single launches.
 * @param stream A stream on a device.
 * @param list Receives the handle, whose owner stays the same.
 * @return quern_success; quern_invalid_arguments: the stream is on a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_stream_get_list(
        quern_stream_t stream, ze_command_list_handle_t *list) QUERN_NOEXCEPT;

/**
 * Like quern_memory_create_v2(), but only for an engine of Level Zero.
 * @param memory Receives the object, which the caller owns (quern_memory_destroy()).
 * @param memory_desc The descriptor, with a layout and without open sizes.
 * @param engine An engine of Level Zero.
 * @param nhandles Number of handles: the number of buffers, or 1.
 * @param handles Device, host or shared memory of the engine's context, QUERN_MEMORY_ALLOCATE or QUERN_MEMORY_NONE.
 * @return As quern_memory_create_v2(); quern_invalid_arguments also if the engine is a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_memory_create(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, int nhandles, void **handles) QUERN_NOEXCEPT;

/**
 * Like quern_primitive_execute(), but waits for events on the device and returns one.
 * @param primitive A primitive.
 * @param stream A stream on a device.
 * @param nargs,args The arguments, as in quern_primitive_execute().
 * @param ndeps Number of events to wait for.
 * @param deps The events, owned by the caller; null if `ndeps` is 0.
 * @param return_event If not null, receives an event that is signaled when the execution has ended, or null on failure.
 *         The stream owns the event and reuses it after 1024 further executions that return one; do not destroy or
 *         reset it.
 * @return As quern_primitive_execute(); quern_invalid_arguments also if an event is null or the stream is on a CPU.
 */
QUERN_API quern_status_t quern_ze_interop_primitive_execute(const_quern_primitive_t primitive, quern_stream_t stream,
        int nargs, const quern_exec_arg_t *args, int ndeps, const ze_event_handle_t *deps,
        ze_event_handle_t *return_event) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ZE_H */
