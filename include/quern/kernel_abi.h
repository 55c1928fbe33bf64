/*===- quern/kernel_abi.h - How a compiled kernel is called ---------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The contract between generated code and whoever calls it: the runtime, or an
 * embedding compiler through quern_primitive_visit_launch(). A kernel computes
 * the iterations [begin, end) of its space; iterations are independent, so a
 * caller may split the space over threads as it likes, each call with scratch
 * of its own. Results do not depend on the split. A primitive of several steps
 * passes values from one to the next in `shared`, which all calls of one
 * execution have in common.
 *
 * A kernel expects the default floating-point environment (round to nearest,
 * denormals kept: on x86-64 MXCSR 0x1f80 apart from the flag bits, on AArch64
 * FPCR 0). quern_primitive_execute sees to that; a direct caller must.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_KERNEL_ABI_H
#define QUERN_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised when the layout or the meaning of anything in this file changes. */
#define QUERN_KERNEL_ABI_VERSION 4

/** Arguments of one call. */
typedef struct quern_kernel_args {
  /** Start of each tensor's buffer, in the order of the entry's argument list, or those that the step names. */
  void *const *buffers;
  /** At least the entry's scratch bytes, aligned to 64; null if it needs none. */
  void *scratch;
  /**
   * At least the primitive's shared bytes, aligned to 64, the same memory for every call of one execution; null if
   * it needs none.
   */
  void *shared;
  /**
   * Runtime sizes: for each argument in order, its runtime dims, its runtime strides, its runtime offset; then those
   * that an execution derives. Null if there are none.
   */
  const int64_t *sizes;
} quern_kernel_args_t;

/** Computes iterations [begin, end). Thread-safe for disjoint ranges with distinct scratch. */
typedef void (*quern_kernel_fn)(const quern_kernel_args_t *args, int64_t begin, int64_t end);

#ifdef __cplusplus
} /* extern "C" */

static_assert(offsetof(quern_kernel_args_t, buffers) == 0 && offsetof(quern_kernel_args_t, scratch) == 8 &&
                      offsetof(quern_kernel_args_t, shared) == 16 && offsetof(quern_kernel_args_t, sizes) == 24 &&
                      sizeof(quern_kernel_args_t) == 32,
        "generated code relies on this layout");
#endif

#endif /* QUERN_KERNEL_ABI_H */
