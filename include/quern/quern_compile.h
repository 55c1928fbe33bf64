/*===- quern/quern_compile.h - The compiler as functions ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_COMPILE_H
#define QUERN_COMPILE_H

#include "quern/quern_common.h"
#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Forms of a compiled problem. */
typedef enum QUERN_INT {
  quern_form_emit = 1,     /**< linalg on memrefs, text */
  quern_form_schedule = 2, /**< vector and scf, text */
  quern_form_lower = 3,    /**< LLVM dialect, text */
  quern_form_llvm = 4,     /**< LLVM IR, text */
  quern_form_asm = 5,      /**< assembly, text */
  quern_form_object = 6,   /**< ELF relocatable object */
  quern_form_spirv = 7,    /**< SPIR-V module; targets of devices only */
  quern_form_artifact = 8, /**< entry of a cache, for quern_primitive_create_from_cache_blob() */
  quern_form_trace = 9,    /**< JSON: the text of every stage, and the line that each line comes from */
  /**
   * quern_form_object with DWARF. The source is the text of the schedule: the file "2-schedule.mlir", also in the
   * section .quern.source. The loaded sections are the same.
   */
  quern_form_debug_object = 10
} quern_code_form_t;

typedef struct quern_blob *quern_blob_t;             /**< bytes that the library allocated */
typedef const struct quern_blob *const_quern_blob_t; /**< a blob that is not modified */

/**
 * Compiles a problem without an engine and returns one of its forms.
 * @param line The text form of the problem.
 * @param target An instruction set ("avx2", "avx512_core_bf16:l2=2048") or a device's limits; null: this machine.
 * @param form The form to return.
 * @param blob Receives the bytes, which the caller owns (quern_blob_destroy()).
 * @return quern_success; quern_invalid_arguments: the line, target or form is invalid; quern_unimplemented: the target
 *         cannot compute the problem; quern_not_required: a tensor is empty; quern_runtime_error: libquern-compiler
 *         cannot be loaded; quern_out_of_memory; quern_internal_error.
 */
QUERN_API quern_status_t quern_compile(
        const char *line, const char *target, quern_code_form_t form, quern_blob_t *blob) QUERN_NOEXCEPT;

/**
 * Returns one line of text: how a problem would be scheduled and why.
 * @param line The text form of the problem.
 * @param target As in quern_compile().
 * @param blob Receives the text, which the caller owns (quern_blob_destroy()).
 * @return As quern_compile().
 */
QUERN_API quern_status_t quern_explain(const char *line, const char *target, quern_blob_t *blob) QUERN_NOEXCEPT;

/**
 * Returns the bytes of a blob. Each result may be null.
 * @param blob A blob.
 * @param data Receives the address, which the blob owns. Text has a terminating zero that `size` does not count.
 * @param size Receives the size in bytes.
 * @return quern_success; quern_invalid_arguments: `blob` is null.
 */
QUERN_API quern_status_t quern_blob_get_data(const_quern_blob_t blob, const void **data, size_t *size) QUERN_NOEXCEPT;

/**
 * Destroys a blob.
 * @param blob A blob or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_blob_destroy(quern_blob_t blob) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_COMPILE_H */
