/*===- quern/quern_xla.h - Kernels as custom calls of XLA ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Of libquern-xla, which the Python package has in its folder lib: a custom
 * call of XLA's typed FFI (api_version 4) for whoever generates HLO or
 * StableHLO, JAX or not. docs/jax.md has its attributes.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_XLA_H
#define QUERN_XLA_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct XLA_FFI_Api;

/**
 * Registers the custom call "quern" for CPUs with an XLA. `api` is that XLA's own: what XLA_FFI_GetApi() gives
 * where one is linked, or the `api` of a call frame.
 *
 * A call has the attribute `line`, a problem's text form with every size known, and `arguments`, an array of s32: the
 * QUERN_ARG_ index of each operand, then of each result. The kernel is made when XLA instantiates the call, and kept by
 * the executable; it runs on XLA's thread pool. Buffers are as large as their descriptors say, else the call fails.
 *
 * invalid_arguments: `api` is null, or XLA refuses, as it does where the name is another library's.
 */
QUERN_API quern_status_t quern_xla_register(const struct XLA_FFI_Api *api) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_XLA_H */
