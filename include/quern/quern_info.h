/*===- quern/quern_info.h - What an engine and a primitive are ------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_INFO_H
#define QUERN_INFO_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name;   /**< of the device; "cpu" */
  const char *target; /**< what code is compiled for: an instruction set and caches, or a device's limits, as
                         quern_compile() takes it */
} quern_engine_info_t;

/** The strings belong to the engine. */
QUERN_API quern_status_t quern_engine_get_info(quern_engine_t engine, quern_engine_info_t *info) QUERN_NOEXCEPT;

typedef enum QUERN_INT {
  quern_origin_compiled = 0, /**< by this call, or by a question to the descriptor before it */
  quern_origin_disk = 1,     /**< read from the disk cache */
  quern_origin_memory = 2,   /**< found in the memory cache, or made by another thread at the same time */
  quern_origin_blob = 3,     /**< given by the caller */
  quern_origin_none = 4,     /**< no kernel: an empty tensor, or what is only copied to another engine */
  quern_origin_pack = 5,     /**< found in a pack (quern_pack.h) */
  quern_origin_family = 6,   /**< that of the family, from a pack, for now or for good (quern_tiers.h) */
  quern_origin_remote = 7    /**< found in the remote cache (quern_remote.h) */
} quern_origin_t;

typedef struct {
  quern_origin_t origin;
  int64_t create_ns;  /**< of quern_primitive_create() in all */
  int64_t compile_ns; /**< in the compiler, in this call or in the question that brought the kernel; 0 unless compiled
                       */
  int64_t load_ns;    /**< linking or mapping the code, likewise; 0 for quern_origin_memory */
  int64_t code_bytes; /**< mapped code and constants; of the object file where the compiler's linker loaded it */
  int64_t scratch_bytes;      /**< of each thread */
  int64_t shared_bytes;       /**< of scratch common to the threads of one execution */
  const char *implementation; /**< as quern_query_impl_info_str */
  const char *plan;           /**< one line: how it was scheduled */
  const char *target;         /**< what it was compiled for */
  const char *linker;         /**< "orc", "loader", "driver" of a device, or "none" */
  const char *pack;           /**< if it was read from a pack, the path of that, or "memory"; otherwise "" */
  int is_family;              /**< it runs the kernel of its family at present; what is said here is of that kernel */
  const char *key; /**< the hash by which its file in a cache, lines of QUERN_VERBOSE, dumps and profiles know
                      it: 32 hexadecimal digits; "" if there is no kernel */
} quern_primitive_info_t;

/** The strings belong to the primitive. */
QUERN_API quern_status_t quern_primitive_get_info(
        const_quern_primitive_t primitive, quern_primitive_info_t *info) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_INFO_H */
