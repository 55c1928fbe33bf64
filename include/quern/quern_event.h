/*===- quern/quern_event.h - What a program may watch ---------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_EVENT_H
#define QUERN_EVENT_H

#include "quern/quern_info.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum QUERN_INT {
  quern_event_create = 1,  /**< a primitive was created */
  quern_event_execute = 2, /**< an execution has finished */
  quern_event_fail = 4,    /**< a function fails, other than with not_required or last_impl_reached */
  /** on a thread of the library: the kernel of primitives that began with their family's is there, or could not be
     made (quern_tiers.h) */
  quern_event_specialise = 8,
  /** on any thread: a server of the remote cache is not asked for a while (status runtime_error), or answers again
     (quern_remote.h) */
  quern_event_remote = 16
} quern_event_kind_t;

/** What does not belong to its kind is null or 0. */
typedef struct {
  quern_event_kind_t kind;
  int64_t ns;                                  /**< how long creation, execution or specialisation took */
  const_quern_primitive_desc_t primitive_desc; /**< create, execute, specialise */
  const_quern_primitive_t primitive;           /**< create, execute */
  quern_origin_t origin;                       /**< create, specialise: where the kernel came from */
  int nargs;                                   /**< execute: the arguments as given */
  const quern_exec_arg_t *args;
  quern_status_t status; /**< fail, specialise, remote */
  const char *function;  /**< fail: its name, "quern_primitive_create" */
  const char *message;   /**< fail: as quern_get_last_error_message(); specialise: likewise, "" if it succeeded;
                            remote: what happened */
} quern_event_t;
/** Called on the thread where it happens; must not throw. What `event` points to lives as long as the call. */
typedef void (*quern_listener_t)(void *context, const quern_event_t *event);

/**
 * From now on `listener` is told of these `events` (bits of quern_event_kind_t). 0 takes it away: no thread is in it
 * any more then. It is known by function and context. It may call any function of Quern but this one; what it calls is
 * not reported. Without listeners an event costs one load.
 */
QUERN_API quern_status_t quern_set_listener(quern_listener_t listener, void *context, unsigned events) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_EVENT_H */
