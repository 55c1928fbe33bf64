/*===- quern/quern_remote.h - Kernels that a fleet shares -----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_REMOTE_H
#define QUERN_REMOTE_H

#include "quern/quern_common.h"
#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The remote cache consists of Redis or HTTP servers. They are searched for kernels that are not in memory, on disk or
 * in a pack, and they receive compiled kernels. Entries are signed: a kernel runs only if a key of `public_keys` has
 * signed it for this problem, target and build (docs/fleet.md).
 */

/** Configuration of the remote cache. For a null string, the environment variable in parentheses is used. */
typedef struct {
  const char *servers;       /**< addresses of servers; "": none (QUERN_REMOTE_CACHE) */
  const char *public_keys;   /**< paths, separated by commas (QUERN_REMOTE_PUBLIC_KEYS) */
  const char *signing_key;   /**< path of a file with mode 0600; "": nothing is stored (QUERN_REMOTE_SIGNING_KEY) */
  const char *password_file; /**< path, for Redis (QUERN_REMOTE_PASSWORD_FILE) */
  const char *token_file;    /**< path, for HTTP (QUERN_REMOTE_TOKEN_FILE) */
  int milliseconds;          /**< maximum total time that creating a primitive waits for servers before it compiles, in
                                  ms; 0: QUERN_REMOTE_MS, or 30 if unset */
  int wait_milliseconds;     /**< maximum additional wait for another process or host that is compiling the same kernel,
                                  in ms; -1: no wait; 0: QUERN_REMOTE_WAIT_MS, or 2000 if unset */
} quern_remote_cache_t;

/**
 * Sets the servers of the remote cache, which are searched in their order. Does not connect yet.
 * @param remote The configuration; copied.
 * @return quern_success; quern_invalid_arguments or quern_runtime_error: a server, key or file is refused, or
 *         libquern-remote cannot be loaded; the previous servers stay.
 */
QUERN_API quern_status_t quern_set_remote_cache(const quern_remote_cache_t *remote) QUERN_NOEXCEPT;

/** Counters since the servers were set. */
typedef struct {
  uint64_t hits,                /**< look-ups on servers with success */
          misses;               /**< look-ups on servers without success */
  uint64_t remembered;          /**< look-ups without a request: all servers reported the entry missing recently */
  uint64_t skipped;             /**< servers that were not queried because they are suspended */
  uint64_t timeouts,            /**< requests that took too long */
          failures;             /**< requests that failed */
  uint64_t rejected_unsigned,   /**< entries without a signature */
          rejected_foreign,     /**< entries that another key has signed */
          rejected_expired;     /**< entries whose signature has expired */
  uint64_t rejected_mismatched; /**< entries signed for another problem, target or build */
  uint64_t rejected_damaged;    /**< entries that are damaged */
  uint64_t stores,              /**< entries stored */
          store_failures;       /**< entries that could not be stored */
  uint64_t stores_dropped;      /**< entries not stored: too many, too large, server full or suspended, process exit */
  uint64_t bytes_received,      /**< bytes of entries received */
          bytes_sent;           /**< bytes of entries sent */
  uint64_t circuits_opened;     /**< number of times that a server was suspended */
  uint64_t leases;              /**< leases obtained, each to compile a kernel for which other processes wait */
  uint64_t waits,               /**< waits for another process or host that is compiling */
          waits_in_vain;        /**< waits that ended without a kernel */
  uint64_t late_hits;           /**< hits that arrived while the compiler was running */
} quern_remote_statistics_t;

/**
 * Returns the counters of the remote cache since its servers were set; zeros without servers.
 * @param statistics Receives the counters.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_get_remote_statistics(quern_remote_statistics_t *statistics) QUERN_NOEXCEPT;

/**
 * Waits until all kernels that were compiled so far have been stored or discarded, or until the time has passed. At
 * exit the library waits for up to 100 ms.
 *
 * @param milliseconds Maximum time in ms, at least 0.
 * @return quern_success, also if the time has passed; quern_invalid_arguments: the time is negative.
 */
QUERN_API quern_status_t quern_flush_remote_cache(int milliseconds) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_REMOTE_H */
