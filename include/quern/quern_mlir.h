/*===- quern/quern_mlir.h - Kernels from functions in MLIR ----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * docs/embedding.md describes the functions that are supported.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MLIR_H
#define QUERN_MLIR_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates the descriptor of a function in MLIR. Argument i of the function is QUERN_ARG_MULTIPLE_SRC + i of an
 * execution, result i is QUERN_ARG_MULTIPLE_DST + i; quern_query_exec_arg_md has their descriptors.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param module The module as text or bytecode.
 * @param bytes Size of the module in bytes, at least 1.
 * @param function Name of the function, zero-terminated; null: the only public function of the module.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: the module is malformed, too large or has no such function;
 *         quern_unimplemented: the function is not supported; the message names the operation and its location;
 *         quern_runtime_error: the compiler, which reads the module, cannot be loaded.
 */
QUERN_API quern_status_t quern_primitive_desc_create_from_mlir(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const void *module, size_t bytes, const char *function,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Sets whether operations of a function in MLIR that no recipe supports are lowered loop by loop, on one thread. By
 * default such a function is rejected.
 *
 * @param attr The attributes to modify.
 * @param value Nonzero allows it.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_set_mlir_allow_naive(
        quern_primitive_attr_t attr, int value) QUERN_NOEXCEPT;

/**
 * Returns whether unsupported operations of a function in MLIR are lowered loop by loop.
 * @param attr The attributes.
 * @param value Receives 0 or 1.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_mlir_allow_naive(
        const_quern_primitive_attr_t attr, int *value) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MLIR_H */
