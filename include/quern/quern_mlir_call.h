/*===- quern/quern_mlir_call.h - Functions in MLIR, called by generated code ===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The interface of code that an MLIR compiler generates with Quern's plugin
 * (docs/embedding.md): one function that takes memref descriptors. It runs on a
 * CPU engine and the default threads (quern_set_num_threads()).
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MLIR_CALL_H
#define QUERN_MLIR_CALL_H

#include "quern/quern_mlir.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bit of quern_mlir_function_t::flags with the effect of quern_primitive_attr_set_mlir_allow_naive(). */
#define QUERN_MLIR_ALLOW_NAIVE 1u
/** Bit of quern_mlir_function_t::flags: the kernel's code is linked with the caller; `entries` are its addresses. */
#define QUERN_MLIR_LINKED 2u

/**
 * A function and optionally its kernel, compiled ahead of time. The caller owns all pointers and keeps them as long as
 * the site.
 */
typedef struct {
  const void *module;    /**< module as text or bytecode, as for quern_primitive_desc_create_from_mlir() */
  uint64_t module_bytes; /**< size of the module in bytes */
  const char *function;  /**< name of the function; null: the only public function of the module */
  const char *line;      /**< text form of the problem (quern compile --emit=line); used only with `kernel` */
  const void *kernel;    /**< quern_form_artifact; used only with `line`, and if it fits the machine and the build. Else
                              the kernel is fetched from a cache or compiled. */
  uint64_t kernel_bytes; /**< size of the kernel in bytes */
  uint64_t flags;        /**< bits QUERN_MLIR_ALLOW_NAIVE and QUERN_MLIR_LINKED */
  /** Called on the thread of a failing call before it returns. May be null; may end the program; must not throw. */
  void (*on_failure)(quern_status_t status, const char *message);
  /** With QUERN_MLIR_LINKED: addresses of the kernel's functions in its order; `kernel` then has no code. */
  void *const *entries;
  uint64_t entry_count; /**< number of entries */
} quern_mlir_function_t;

/** MLIR's unranked memref: `descriptor` points to {allocated, aligned, offset, sizes[rank], strides[rank]}. */
typedef struct {
  int64_t rank;           /**< number of dimensions */
  const void *descriptor; /**< the ranked descriptor */
} quern_mlir_memref_t;

/**
 * Executes a function on memrefs. It has finished on return. Any number of threads may call with one site at the same
 * time; the first calls share one compilation.
 *
 * A site stores a refusal (quern_invalid_arguments or quern_unimplemented of the function) and returns it again; after
 * other failures the next call tries again.
 *
 * @param site Address of a caller-owned pointer, initially null, in which the first call stores the kernel
 *         (quern_mlir_release()).
 * @param function The function; the same for all calls of a site, and valid as long as the site.
 * @param memrefs The arguments, then the results, which the caller has allocated. Sizes, strides and offsets are those
 *         of the descriptors; `allocated` is ignored.
 * @param count Number of memrefs.
 * @return quern_success; quern_invalid_arguments: a memref does not match the function or overlaps a written one;
 *         otherwise as quern_primitive_desc_create_from_mlir(), quern_primitive_create() and quern_primitive_execute().
 */
QUERN_API quern_status_t quern_mlir_call(void **site, const quern_mlir_function_t *function,
        const quern_mlir_memref_t *memrefs, int count) QUERN_NOEXCEPT;

/**
 * Frees the kernel of a site and writes null to it. No call may be using the site.
 * @param site Address of the pointer; the pointer may be null.
 * @return quern_success; quern_invalid_arguments: `site` is null.
 */
QUERN_API quern_status_t quern_mlir_release(void **site) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MLIR_CALL_H */
