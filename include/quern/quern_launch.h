/*===- quern/quern_launch.h - Kernels as plain functions ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * For programs that run kernels on their own threads, without the runtime.
 * kernel_abi.h has the contract of a kernel.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_LAUNCH_H
#define QUERN_LAUNCH_H

#include "quern/kernel_abi.h"
#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of one launch. The caller owns it and keeps it until the calls have ended. */
typedef struct {
  void *const *buffers; /**< buffers in the order of quern_primitive_get_launch_argument() */
  const int64_t *sizes; /**< open dims, strides and offsets in the order of docs/embedding.md; null: none */
  void *shared; /**< shared bytes of quern_primitive_get_launch_memory(), aligned to 64; null: none are needed */
} quern_launch_data_t;

/** One call of a launch: function(&args, 0, iterations), or disjoint ranges of it on several threads. */
typedef struct {
  quern_kernel_fn function;        /**< the kernel */
  quern_kernel_args_t args;        /**< its arguments; `scratch` is null: each concurrent call needs its own */
  int32_t buffer_count;            /**< number of args.buffers */
  int32_t independent_of_previous; /**< 1: independent of the call before it; the two may run concurrently */
  int64_t iterations;              /**< number of iterations */
  int64_t ns_per_iteration;        /**< estimate for one core in ns; 0: unknown */
} quern_launch_call_t;

/**
 * Receives one call of a launch. args.buffers are valid until it returns, args.sizes until the visit ends. A result
 * other than quern_success ends the visit, which returns it.
 */
typedef quern_status_t (*quern_launch_visitor_t)(void *context, const quern_launch_call_t *call);

/**
 * Returns QUERN_KERNEL_ABI_VERSION of the library. A program that was compiled with another version cannot call its
 * kernels.
 *
 * @return The version.
 */
QUERN_API uint32_t quern_kernel_abi_version(void) QUERN_NOEXCEPT;

/**
 * Returns the numbers of arguments, sizes and functions of a launch; all are 0 if a tensor is empty. Each result may
 * be null. If the primitive runs the kernel of its family, this and the following functions wait for its specialized
 * kernel.
 *
 * @param primitive A primitive.
 * @param argument_count Receives the number of arguments, in the order of the buffers.
 * @param size_count Receives the number of open dims, strides and offsets.
 * @param function_count Receives the number of different functions that the launch calls.
 * @return quern_success; quern_unimplemented: the primitive is on a device. If a kernel is compiled, also the statuses
 *         of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_get_launch_counts(
        const_quern_primitive_t primitive, int *argument_count, int *size_count, int *function_count) QUERN_NOEXCEPT;

/**
 * Returns an argument of a launch. Each result may be null.
 * @param primitive A primitive.
 * @param position Position of the argument, from 0.
 * @param arg Receives its QUERN_ARG_ value.
 * @param is_output Receives 1 if it is written.
 * @param bytes Receives the minimum size of its buffer in bytes; 0 if it is known only at execution.
 * @return quern_success; quern_invalid_arguments: there is no such position; quern_unimplemented: the primitive is on a
 *         device. If a kernel is compiled, also the statuses of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_get_launch_argument(
        const_quern_primitive_t primitive, int position, int *arg, int *is_output, int64_t *bytes) QUERN_NOEXCEPT;

/**
 * Returns a function of a launch. Functions are in the order of their first calls.
 * @param primitive A primitive.
 * @param position Position of the function, from 0.
 * @param function Receives the function, valid as long as the primitive.
 * @return quern_success; quern_invalid_arguments: there is no such position; quern_unimplemented: the primitive is on a
 *         device. If a kernel is compiled, also the statuses of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_get_launch_function(
        const_quern_primitive_t primitive, int position, quern_kernel_fn *function) QUERN_NOEXCEPT;

/**
 * Returns the memory that an execution needs in addition to its arguments. Neither part needs to be initialized.
 * @param primitive A primitive.
 * @param data Buffers and sizes of the execution; may be null if the launch takes no sizes. `data->shared` is ignored.
 * @param scratch_bytes Receives the bytes for each call that runs concurrently with others.
 * @param shared_bytes Receives the bytes for all calls of the execution together.
 * @return quern_success; quern_invalid_arguments: buffers or sizes are required; quern_unimplemented: the primitive is
 *         on a device, or a size exceeds int64. If a kernel is compiled, also the statuses of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_get_launch_memory(const_quern_primitive_t primitive,
        const quern_launch_data_t *data, size_t *scratch_bytes, size_t *shared_bytes) QUERN_NOEXCEPT;

/**
 * Calls a visitor for each call of an execution, in order; there are none if a tensor is empty. Each call must start
 * after the one before has ended, unless it is marked as independent. Sizes that depend on elements of a tensor (the
 * maximum length of a batch) are read when the visit begins.
 *
 * @param primitive A primitive.
 * @param data Buffers, sizes and shared memory of the execution.
 * @param visitor The visitor; must not throw.
 * @param context Passed to the visitor; may be null.
 * @return quern_success; quern_invalid_arguments: buffers, sizes or shared memory are missing, or the latter is not
 *         aligned to 64 bytes; quern_unimplemented: the primitive is on a device, or a size exceeds int64;
 *         quern_runtime_error: a call would access memory outside its region; another status: that of the visitor. If a
 *         kernel is compiled, also the statuses of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_visit_launch(const_quern_primitive_t primitive,
        const quern_launch_data_t *data, quern_launch_visitor_t visitor, void *context) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_LAUNCH_H */
