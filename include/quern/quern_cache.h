/*===- quern/quern_cache.h - Memory cache and disk cache of kernels -------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_CACHE_H
#define QUERN_CACHE_H

#include "quern/quern_common.h"
#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of the caches of this process. */
typedef struct {
  uint64_t memory_hits,        /**< look-ups in the memory cache with success */
          memory_misses,       /**< look-ups in the memory cache without success */
          memory_evictions;    /**< kernels evicted from the memory cache */
  uint64_t disk_hits,          /**< look-ups on disk with success; only after a memory miss */
          disk_misses;         /**< look-ups on disk without success */
  uint64_t disk_rejected;      /**< misses because a file was damaged, foreign or unsafe */
  uint64_t disk_stores,        /**< files written */
          disk_store_failures, /**< files that could not be written */
          disk_evictions;      /**< files deleted to stay below the capacity */
  uint64_t compilations;       /**< kernels compiled */
  uint64_t memory_entries,     /**< kernels in the memory cache now */
          memory_bytes;        /**< their code and data in bytes */
  uint64_t pack_hits,          /**< look-ups in packs with success; only after a disk miss */
          pack_rejected;       /**< kernels of packs that were damaged or could not be loaded */
} quern_cache_statistics_t;

/**
 * Returns the counters of the caches since the process started.
 * @param statistics Receives the counters.
 * @return quern_success; quern_invalid_arguments: the pointer is null.
 */
QUERN_API quern_status_t quern_get_cache_statistics(quern_cache_statistics_t *statistics) QUERN_NOEXCEPT;

/**
 * Returns the capacity of the memory cache in bytes of code and data, initially 256 MiB.
 * @param bytes Receives the capacity.
 * @return quern_success; quern_invalid_arguments: the pointer is null.
 */
QUERN_API quern_status_t quern_get_primitive_cache_capacity_bytes(size_t *bytes) QUERN_NOEXCEPT;

/**
 * Sets the capacity of the memory cache in bytes of code and data. A lower value evicts the least recently used
 * kernels.
 *
 * @param bytes The capacity.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_set_primitive_cache_capacity_bytes(size_t bytes) QUERN_NOEXCEPT;

/**
 * Sets the directory of the disk cache, which is created when the first file is written. Initially it is
 * QUERN_CACHE_DIR ("off" or "": none), else $XDG_CACHE_HOME/quern, else ~/.cache/quern.
 *
 * @param directory The path; null or "" switches the disk cache off. The directory must belong to this user, must not
 *         be writable by others, and must not be a symbolic link.
 * @return quern_success; quern_runtime_error: the directory is refused, and the disk cache is off.
 */
QUERN_API quern_status_t quern_set_disk_cache(const char *directory) QUERN_NOEXCEPT;

/**
 * Returns the directory of the disk cache.
 * @param directory Receives the path, which the library owns; "" if the disk cache is off. Valid until the next call on
 *         the same thread.
 * @return quern_success; quern_invalid_arguments: the pointer is null; quern_out_of_memory.
 */
QUERN_API quern_status_t quern_get_disk_cache(const char **directory) QUERN_NOEXCEPT;

/**
 * Sets the total size of the files of the disk cache, initially 512 MiB. If it is exceeded, the least recently used
 * files are deleted.
 *
 * @param bytes The capacity.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_set_disk_cache_capacity(size_t bytes) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_CACHE_H */
