/*===- quern/quern_mlir_call.h - Functions in MLIR, called by generated code ===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * What code calls that an MLIR compiler has generated with Quern's plugin
 * (docs/embedding.md): one function, with memref descriptors as they are. It
 * runs on a CPU engine and the default threads (quern_set_num_threads()).
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MLIR_CALL_H
#define QUERN_MLIR_CALL_H

#include "quern/quern_mlir.h"

#ifdef __cplusplus
extern "C" {
#endif

/** quern_mlir_function_t::flags: quern_primitive_attr_set_mlir_allow_naive(). */
#define QUERN_MLIR_ALLOW_NAIVE 1u
/** quern_mlir_function_t::flags: the kernel's code is linked with the caller; `entries` are its addresses. */
#define QUERN_MLIR_LINKED 2u

/** A function and, where there is one, its kernel, compiled ahead. The caller keeps all of it as long as the site. */
typedef struct {
  const void *module; /**< text or bytecode, as quern_primitive_desc_create_from_mlir() takes it */
  uint64_t module_bytes;
  const char *function; /**< null: the module's only public one */
  const char *line;     /**< of the problem as it was read (quern compile --emit=line); null: the module is read */
  const void *kernel;   /**< quern_form_artifact; null: from a cache, or compiled. Without effect where it does not fit
                             the machine or the library's build, and without `line`. */
  uint64_t kernel_bytes;
  uint64_t flags;
  /** Called, before a call that fails returns its status, on the same thread; may end the program, but not throw. Null:
   * nobody is told. */
  void (*on_failure)(quern_status_t status, const char *message);
  /** Of QUERN_MLIR_LINKED alone: the functions of the kernel, in its order, of whose code `kernel` has none then. */
  void *const *entries;
  uint64_t entry_count;
} quern_mlir_function_t;

/** MLIR's unranked memref: `descriptor` points to {allocated, aligned, offset, sizes[rank], strides[rank]}. */
typedef struct {
  int64_t rank;
  const void *descriptor;
} quern_mlir_memref_t;

/**
 * Executes a function on `count` memrefs, its arguments and then its results, which the caller has allocated. It has
 * finished on return. `site` points to a pointer of the caller's, null at first, in which the first call leaves what
 * later ones need: the kernel, checked. Any number of threads may call with one site, also the first time, when one of
 * them makes the kernel and the others wait. Sizes, strides and offsets are those of the descriptors; `allocated` is
 * not looked at.
 *
 * invalid_arguments: a memref is not as the function has it, or overlaps what is written; else as
 * quern_primitive_desc_create_from_mlir() and quern_primitive_create(). A function that is not taken is not tried again
 * by this site; after runtime_error and out_of_memory it is. quern_get_last_error_message() has the reason.
 */
QUERN_API quern_status_t quern_mlir_call(void **site, const quern_mlir_function_t *function,
        const quern_mlir_memref_t *memrefs, int count) QUERN_NOEXCEPT;

/** Frees what a site remembers and makes it null, when no call uses it. Null sites are possible. */
QUERN_API quern_status_t quern_mlir_release(void **site) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MLIR_CALL_H */
