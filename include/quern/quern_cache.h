/*===- quern/quern_cache.h - The caches -----------------------------------===*
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

typedef struct {
  uint64_t memory_hits, memory_misses, memory_evictions;
  uint64_t disk_hits, disk_misses; /**< looked up after a memory miss, with the disk cache on */
  uint64_t disk_rejected;          /**< of the misses: a file that was damaged, foreign or unsafe */
  uint64_t disk_stores, disk_store_failures, disk_evictions;
  uint64_t compilations;
  uint64_t memory_entries, memory_bytes; /**< now */
  uint64_t pack_hits, pack_rejected;     /**< after a disk miss; an artifact that was damaged or could not be loaded */
} quern_cache_statistics_t;

QUERN_API quern_status_t quern_get_cache_statistics(quern_cache_statistics_t *statistics) QUERN_NOEXCEPT;

/** Bytes of code and data in the memory cache. Initially 256 MiB. */
QUERN_API quern_status_t quern_get_primitive_cache_capacity_bytes(size_t *bytes) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_set_primitive_cache_capacity_bytes(size_t bytes) QUERN_NOEXCEPT;

/**
 * The directory of the disk cache; null or "" switches it off. It is made when first written. It must belong to this
 * user and be writable by nobody else, and must not be a symbolic link: runtime_error otherwise, and the cache is off.
 * Initially QUERN_CACHE_DIR
 * ("off" or "" for none), else $XDG_CACHE_HOME/quern, else ~/.cache/quern.
 */
QUERN_API quern_status_t quern_set_disk_cache(const char *directory) QUERN_NOEXCEPT;
/** The directory in use, or "" if the cache is off. Valid until the next call on the same thread. */
QUERN_API quern_status_t quern_get_disk_cache(const char **directory) QUERN_NOEXCEPT;
/** Total size of the files; beyond it those used longest ago go. Initially 512 MiB. */
QUERN_API quern_status_t quern_set_disk_cache_capacity(size_t bytes) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_CACHE_H */
