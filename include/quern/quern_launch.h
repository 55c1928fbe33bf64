/*===- quern/quern_launch.h - Kernels as plain functions ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * What a program needs that runs kernels on threads of its own, without the
 * runtime. kernel_abi.h has the contract of a kernel.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_LAUNCH_H
#define QUERN_LAUNCH_H

#include "quern/kernel_abi.h"
#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where calls of a primitive's launch find what they work on. Lives as long as the caller keeps what it points to.
 */
typedef struct {
  void *const *buffers; /**< of the arguments, in their order; quern_primitive_get_launch_argument() */
  const int64_t *sizes; /**< of the problem's runtime dims, strides and offsets, in the order that docs/embedding.md
                           has; null: none */
  void *shared; /**< the shared bytes of quern_primitive_get_launch_memory(), aligned to 64; null: none are needed */
} quern_launch_data_t;

/**
 * One call of a launch: run function(&args, 0, iterations), or disjoint ranges of it on several threads at the same
 * time.
 */
typedef struct {
  quern_kernel_fn function;
  quern_kernel_args_t args; /**< without scratch: each concurrent call gets its own */
  int32_t buffer_count;     /**< of args.buffers */
  int32_t beside_previous;  /**< 1: independent of the call before it, so that the two may run at once */
  int64_t iterations;
  int64_t ns_per_iteration; /**< estimate on one core; 0: unknown */
} quern_launch_call_t;

/**
 * Told of one call. args.buffers live until it returns, args.sizes until the visit ends. Any other result than
 * quern_success ends the visit, which then returns it.
 */
typedef quern_status_t (*quern_launch_visitor_t)(void *context, const quern_launch_call_t *call);

/** QUERN_KERNEL_ABI_VERSION of the library: a program that was compiled with another one cannot call its kernels. */
QUERN_API uint32_t quern_kernel_abi_version(void) QUERN_NOEXCEPT;

/**
 * How many arguments a launch takes, how many sizes, and how many functions its calls have. Each result may be null.
 */
QUERN_API quern_status_t quern_primitive_get_launch_counts(
        const_quern_primitive_t primitive, int *argument_count, int *size_count, int *function_count) QUERN_NOEXCEPT;

/**
 * Of an argument its QUERN_ARG_ index, whether it is written, and the least size of its buffer (0 if it has runtime
 * dims). Each result may be null. invalid_arguments: there is no such position.
 */
QUERN_API quern_status_t quern_primitive_get_launch_argument(
        const_quern_primitive_t primitive, int position, int *arg, int *is_output, int64_t *bytes) QUERN_NOEXCEPT;

/** A function, in the order in which they are first called. invalid_arguments: there is no such position. */
QUERN_API quern_status_t quern_primitive_get_launch_function(
        const_quern_primitive_t primitive, int position, quern_kernel_fn *function) QUERN_NOEXCEPT;

/**
 * Bytes of memory that an execution takes besides its arguments, neither filled: scratch for each call that runs at the
 * same time as others, shared by all calls of the execution. `data` may be null where the launch takes no sizes, and
 * its `shared` is not looked at.
 */
QUERN_API quern_status_t quern_primitive_get_launch_memory(const_quern_primitive_t primitive,
        const quern_launch_data_t *data, size_t *scratch_bytes, size_t *shared_bytes) QUERN_NOEXCEPT;

/**
 * Tells `visitor` of each call of an execution, in order: each has to run after all of the one before. None for an
 * empty tensor. Sizes that depend on a tensor's elements (the greatest length of a batch) are read when the visit
 * begins. Thread-safe; a visitor may not throw. unimplemented: the primitive is a device's, or its numbers are beyond
 * int64. runtime_error: a call would leave a region.
 */
QUERN_API quern_status_t quern_primitive_visit_launch(const_quern_primitive_t primitive,
        const quern_launch_data_t *data, quern_launch_visitor_t visitor, void *context) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_LAUNCH_H */
