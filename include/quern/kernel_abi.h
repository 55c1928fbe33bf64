/*===- quern/kernel_abi.h - How a compiled kernel is called ---------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The contract between generated code and its caller: the runtime, or an
 * embedding compiler through quern_primitive_visit_launch(). A kernel computes
 * the iterations [begin, end) of its space. Iterations are independent, so the
 * caller may split the space over threads in any way; concurrent calls need
 * separate scratch. Results do not depend on the split. A primitive of several
 * steps passes values between steps in `shared`, which all calls of one
 * execution share.
 *
 * A kernel requires the default floating-point environment (round to nearest,
 * denormals kept: on x86-64 MXCSR 0x1f80 except for the flag bits, on AArch64
 * FPCR 0). quern_primitive_execute() sets it; a direct caller must do so too.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_KERNEL_ABI_H
#define QUERN_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the contract in this file, incremented with each change of layout or meaning. */
#define QUERN_KERNEL_ABI_VERSION 4

/** Arguments of one call. */
typedef struct quern_kernel_args {
  /** Addresses of the buffers of the entry's arguments in order, or of the buffers that the step names. */
  void *const *buffers;
  /** Scratch of at least the entry's size, aligned to 64 bytes; null if it needs none. */
  void *scratch;
  /**
   * Memory of at least the primitive's shared bytes, aligned to 64 bytes, the same for every call of one execution;
   * null if it needs none.
   */
  void *shared;
  /**
   * Open sizes in elements: for each argument in order, its open dims, strides and offset; then the sizes that the
   * execution derives. Null if there are none.
   */
  const int64_t *sizes;
} quern_kernel_args_t;

/** Computes the iterations [begin, end). Thread-safe for disjoint ranges with separate scratch. */
typedef void (*quern_kernel_fn)(const quern_kernel_args_t *args, int64_t begin, int64_t end);

#ifdef __cplusplus
} /* extern "C" */

static_assert(offsetof(quern_kernel_args_t, buffers) == 0 && offsetof(quern_kernel_args_t, scratch) == 8 &&
                      offsetof(quern_kernel_args_t, shared) == 16 && offsetof(quern_kernel_args_t, sizes) == 24 &&
                      sizeof(quern_kernel_args_t) == 32,
        "generated code relies on this layout");
#endif

#endif /* QUERN_KERNEL_ABI_H */
