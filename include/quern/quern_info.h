/*===- quern/quern_info.h - Information about engines and primitives ------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_INFO_H
#define QUERN_INFO_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Information about an engine. */
typedef struct {
  const char *name;   /**< name of the device; "cpu" */
  const char *target; /**< target for quern_compile(): an instruction set and caches, or a device's limits */
} quern_engine_info_t;

/**
 * Returns information about an engine.
 * @param engine An engine.
 * @param info Receives the information; its strings are owned by the engine.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_engine_get_info(quern_engine_t engine, quern_engine_info_t *info) QUERN_NOEXCEPT;

/** Source of a kernel. */
typedef enum QUERN_INT {
  quern_origin_compiled = 0, /**< compiled by this call, or by an earlier query of the descriptor */
  quern_origin_disk = 1,     /**< read from the disk cache */
  quern_origin_memory = 2,   /**< found in the memory cache, or compiled by another thread at the same time */
  quern_origin_blob = 3,     /**< passed by the caller */
  quern_origin_none = 4,     /**< no kernel: a tensor is empty, or bytes are only copied to another engine */
  quern_origin_pack = 5,     /**< found in a pack (quern_pack.h) */
  quern_origin_family = 6,   /**< the kernel of the family, from a pack (quern_tiers.h) */
  quern_origin_remote = 7    /**< found in the remote cache (quern_remote.h) */
} quern_origin_t;

/** Information about a primitive and the kernel that it runs at present. */
typedef struct {
  quern_origin_t origin; /**< source of the kernel */
  int64_t create_ns;     /**< duration of quern_primitive_create() in ns */
  int64_t compile_ns;    /**< time in the compiler, in this call or in the query that fetched the kernel, in ns; 0: not
                            compiled */
  int64_t load_ns;       /**< time to link or map the code, in ns; 0 for quern_origin_memory */
  int64_t code_bytes;    /**< mapped code and constants in bytes; with linker "orc" the size of the object file */
  int64_t scratch_bytes; /**< scratch per thread in bytes */
  int64_t shared_bytes;  /**< scratch that the threads of one execution share, in bytes */
  const char *implementation; /**< as quern_query_impl_info_str */
  const char *plan;           /**< schedule of the kernel, one line */
  const char *target;         /**< target that it was compiled for */
  const char *linker;         /**< "orc", "loader", "driver" (of a device) or "none" */
  const char *pack;           /**< path of the pack that it was read from, or "memory"; "": no pack */
  int is_family;              /**< 1: the kernel is that of its family */
  const char *key; /**< hash in names of cache files, lines of QUERN_VERBOSE, dumps and profiles: 32 hexadecimal digits;
                      "": no kernel */
} quern_primitive_info_t;

/**
 * Returns information about a primitive.
 * @param primitive A primitive.
 * @param info Receives the information; its strings are owned by the primitive.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_get_info(
        const_quern_primitive_t primitive, quern_primitive_info_t *info) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_INFO_H */
