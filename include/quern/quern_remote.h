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
 * Servers that are asked for a kernel where neither memory, disk nor a pack has it, before it is compiled, and that are
 * given what was compiled: Redis, or stores that speak HTTP. Entries are signed; nothing is run that no key of
 * `public_keys` has signed for exactly this problem, target and build. docs/fleet.md.
 */

/** Texts that are null are taken from the environment. */
typedef struct {
  const char *servers;       /**< as QUERN_REMOTE_CACHE; "" for none */
  const char *public_keys;   /**< files, separated by commas (QUERN_REMOTE_PUBLIC_KEYS) */
  const char *signing_key;   /**< a file with mode 0600, "" where nothing is stored (QUERN_REMOTE_SIGNING_KEY) */
  const char *password_file; /**< for Redis (QUERN_REMOTE_PASSWORD_FILE) */
  const char *token_file;    /**< for HTTP (QUERN_REMOTE_TOKEN_FILE) */
  int milliseconds;          /**< the most that creating a primitive waits for answers before it is compiled; 0:
                                  QUERN_REMOTE_MS, which is 30 if unset */
  int wait_milliseconds;     /**< and beyond that for another who compiles the same; -1: not at all; 0:
                                  QUERN_REMOTE_WAIT_MS, which is 2000 if unset */
} quern_remote_cache_t;

/**
 * From now on these servers are asked, in order. invalid_arguments or runtime_error, and no change, if a server, key or
 * file is refused or libquern-remote is not there. Connects to nobody yet.
 */
QUERN_API quern_status_t quern_set_remote_cache(const quern_remote_cache_t *remote) QUERN_NOEXCEPT;

/** Since the servers were set. */
typedef struct {
  uint64_t hits, misses;       /**< look-ups with servers; each ends as one of both */
  uint64_t remembered;         /**< look-ups without: nobody had it a moment ago */
  uint64_t skipped;            /**< servers not asked because they were given up for a while */
  uint64_t timeouts, failures; /**< questions */
  uint64_t rejected_unsigned, rejected_foreign, rejected_expired; /**< entries that were not believed */
  uint64_t rejected_mismatched; /**< signed, but for another problem, target or build */
  uint64_t rejected_damaged;
  uint64_t stores, store_failures;
  uint64_t stores_dropped; /**< too many at once, too large, a server full or given up, the end of the program */
  uint64_t bytes_received, bytes_sent;
  uint64_t circuits_opened;      /**< how often a server was given up */
  uint64_t leases;               /**< kernels that this process was to compile for others */
  uint64_t waits, waits_in_vain; /**< for others who compile; those that ended without a kernel */
  uint64_t late_hits;            /**< of the hits, those that came while the compiler was at work */
} quern_remote_statistics_t;

/** Zeros where there are no servers. */
QUERN_API quern_status_t quern_get_remote_statistics(quern_remote_statistics_t *statistics) QUERN_NOEXCEPT;

/** Returns when all that was compiled so far is stored or given up, or after that time. At exit it is 100 ms. */
QUERN_API quern_status_t quern_flush_remote_cache(int milliseconds) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_REMOTE_H */
