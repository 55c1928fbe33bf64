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

typedef enum QUERN_INT {
  quern_form_emit = 1,     /**< linalg on memrefs, text */
  quern_form_schedule = 2, /**< vector and scf, text */
  quern_form_lower = 3,    /**< LLVM dialect, text */
  quern_form_llvm = 4,     /**< LLVM IR, text */
  quern_form_asm = 5,      /**< assembly, text */
  quern_form_object = 6,   /**< ELF relocatable object */
  quern_form_spirv = 7,
  quern_form_artifact = 8, /**< what the caches hold and quern_primitive_create_from_cache_blob() takes */
  quern_form_trace = 9,    /**< JSON: the text of every stage, and which line of it comes from which */
  /**
   * quern_form_object with DWARF, whose source is the text of the schedule: in "2-schedule.mlir", and in the object's
   * section .quern.source. What is loaded of it is the same.
   */
  quern_form_debug_object = 10
} quern_code_form_t;

typedef struct quern_blob *quern_blob_t;
typedef const struct quern_blob *const_quern_blob_t;

/**
 * Compiles a problem without an engine. `target` is an instruction set ("avx2", "avx512_core_bf16:l2=2048"), or null
 * for this machine. runtime_error: libquern-compiler cannot be loaded.
 */
QUERN_API quern_status_t quern_compile(
        const char *line, const char *target, quern_code_form_t form, quern_blob_t *blob) QUERN_NOEXCEPT;
/** One line: how the problem would be scheduled and why. */
QUERN_API quern_status_t quern_explain(const char *line, const char *target, quern_blob_t *blob) QUERN_NOEXCEPT;
/**
 * `data` belongs to the blob; text has no terminating zero within `size`, but one follows. Either result may be null.
 */
QUERN_API quern_status_t quern_blob_get_data(const_quern_blob_t blob, const void **data, size_t *size) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_blob_destroy(quern_blob_t blob) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_COMPILE_H */
