/*===- quern/quern_mlir.h - Kernels from functions in MLIR ----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * docs/embedding.md says which functions are taken.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MLIR_H
#define QUERN_MLIR_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A problem from a function of a module in MLIR, `bytes` of text or bytecode; `function` may be null where the module
 * has one public function. `attr` may be null. Argument i of the function is QUERN_ARG_MULTIPLE_SRC + i, what it
 * returns QUERN_ARG_MULTIPLE_DST + i; quern_query_exec_arg_md has their descriptors. invalid_arguments: it is no
 * module, or has no such function; unimplemented: the function is not taken, with the operation and its place.
 * runtime_error: it must be read, which takes the compiler, and libquern-compiler cannot be loaded.
 */
QUERN_API quern_status_t quern_primitive_desc_create_from_mlir(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const void *module, size_t bytes, const char *function,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/** 1: what no recipe takes of such a function is lowered loop by loop, on one thread. 0, the default: it is refused. */
QUERN_API quern_status_t quern_primitive_attr_set_mlir_allow_naive(
        quern_primitive_attr_t attr, int value) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_get_mlir_allow_naive(
        const_quern_primitive_attr_t attr, int *value) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MLIR_H */
