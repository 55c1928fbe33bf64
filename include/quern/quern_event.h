/*===- quern/quern_event.h - Events that a program can listen to ----------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_EVENT_H
#define QUERN_EVENT_H

#include "quern/quern_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of events. */
typedef enum QUERN_INT {
  quern_event_create = 1,  /**< a primitive was created */
  quern_event_execute = 2, /**< an execution has finished */
  quern_event_fail = 4,    /**< a function failed, except with quern_not_required or quern_last_impl_reached */
  /** on a library thread: the specialized kernel of primitives that run a family kernel is ready, or could not be
     created (quern_tiers.h) */
  quern_event_specialize = 8,
  /** on any thread: a server of the remote cache is suspended (status quern_runtime_error), or answers again
     (quern_remote.h) */
  quern_event_remote = 16
} quern_event_kind_t;

/** An event. Fields that do not belong to its kind are null or 0. */
typedef struct {
  quern_event_kind_t kind;                     /**< kind of the event */
  int64_t ns;                                  /**< duration of the creation, execution or specialization in ns */
  const_quern_primitive_desc_t primitive_desc; /**< create, execute, specialization */
  const_quern_primitive_t primitive;           /**< create, execute */
  quern_origin_t origin;                       /**< create, specialization: source of the kernel */
  int nargs;                                   /**< execute: number of arguments */
  const quern_exec_arg_t *args;                /**< execute: the arguments of the call */
  quern_status_t status;                       /**< fail, specialization, remote: the status */
  const char *function;                        /**< fail: name of the function, such as "quern_primitive_create" */
  const char *message; /**< fail, specialization: the reason, "" for a success; remote: the change of the server */
} quern_event_t;
/** A listener, called on the thread of the event. It must not throw. The event is valid during the call. */
typedef void (*quern_listener_t)(void *context, const quern_event_t *event);

/**
 * Registers a listener for events, and replaces an earlier registration of the same function and context. A listener
 * may call every function of Quern except this one; its own calls are not reported. Without listeners, an event costs
 * one load.
 *
 * @param listener The function.
 * @param context Passed to the listener; may be null.
 * @param events Bits of quern_event_kind_t. 0 removes the listener, and returns once no thread is inside it.
 * @return quern_success; quern_invalid_arguments: the bits are unknown, or the caller is a listener.
 */
QUERN_API quern_status_t quern_set_listener(quern_listener_t listener, void *context, unsigned events) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_EVENT_H */
