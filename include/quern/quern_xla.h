/*===- quern/quern_xla.h - Kernels as custom calls of XLA ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Declares the function of libquern-xla, which is in the folder lib of the
 * Python package. It provides a custom call of XLA's typed FFI (api_version 4)
 * to every program that generates HLO or StableHLO, with or without JAX.
 * docs/jax.md describes its attributes.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_XLA_H
#define QUERN_XLA_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct XLA_FFI_Api; /**< defined by XLA */

/**
 * Registers the custom call "quern" for CPUs in one copy of XLA.
 *
 * A call has the attribute `line`, the text form of a problem without open sizes, and the attribute `arguments`, an
 * array of s32 with the QUERN_ARG_ value of each operand, then of each result. XLA compiles the kernel when it
 * instantiates the call, the executable keeps it, and it runs on XLA's thread pool. A call fails if the size of a
 * buffer is not that of its descriptor.
 *
 * @param api The API of that copy: the result of XLA_FFI_GetApi(), or the `api` of a call frame.
 * @return quern_success; quern_invalid_arguments: `api` is null, or XLA refuses, for example because another library
 *         has registered the name.
 */
QUERN_API quern_status_t quern_xla_register(const struct XLA_FFI_Api *api) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_XLA_H */
