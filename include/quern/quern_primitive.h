/*===- quern/quern_primitive.h - Primitive descriptors and primitives ------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A primitive descriptor is a verified problem; a primitive is its compiled
 * kernel. Creating a primitive searches the memory cache, the disk cache, packs
 * (quern_pack.h) and the remote cache (quern_remote.h), and then compiles.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_PRIMITIVE_H
#define QUERN_PRIMITIVE_H

#include "quern/quern_attr.h"
#include "quern/quern_query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Primitive descriptors --------------------------------------------- */

/**
 * Creates the descriptor of a softmax along one dimension (docs/primitives/softmax.md).
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_forward_training or quern_forward_inference.
 * @param alg_kind quern_softmax_accurate, quern_softmax_log or quern_softmax_accurate_inf_as_zero.
 * @param src_desc The source; its layout must be given.
 * @param dst_desc The result, with the dims of the source; its layout may be `any`.
 * @param softmax_axis Dimension along which it is computed, 0 to ndims - 1.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: a parameter is out of range, or the shapes differ;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_softmax_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src_desc, const_quern_memory_desc_t dst_desc, int softmax_axis,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradient of a softmax, computed from the result of forward and the gradient of that
 * result.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param alg_kind The algorithm of forward.
 * @param diff_src_desc Gradient of the source, which is written; its layout may be `any`.
 * @param diff_dst_desc Gradient of the result; its layout may be `any`.
 * @param dst_desc The result of forward. Its layout may be `any` if `hint_fwd_pd` is given, and becomes the layout that
 *         forward wrote.
 * @param softmax_axis The dimension of forward.
 * @param hint_fwd_pd The descriptor of forward, or null.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: a parameter is out of range, the shapes differ, or `dst_desc` is
 *         `any` without a hint; quern_unimplemented: the problem is legal but not supported. The message cites the
 *         constraint that is violated.
 */
QUERN_API quern_status_t quern_softmax_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t diff_src_desc,
        const_quern_memory_desc_t diff_dst_desc, const_quern_memory_desc_t dst_desc, int softmax_axis,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of an elementwise function (docs/primitives/eltwise.md).
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_forward_training or quern_forward_inference.
 * @param alg_kind A quern_eltwise_… value.
 * @param src_desc The source; its layout must be given.
 * @param dst_desc The result, with the dims of the source; its layout may be `any`.
 * @param alpha,beta Parameters of the algorithm, which defines their meaning.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: a parameter is out of range, or the shapes differ;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_eltwise_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src_desc, const_quern_memory_desc_t dst_desc, float alpha, float beta,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradient of an eltwise function.
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param alg_kind The algorithm of forward.
 * @param diff_src_desc Gradient of the source, which is written; its layout may be `any`.
 * @param diff_dst_desc Gradient of the result; its layout may be `any`.
 * @param data_desc The source of forward, or its result if the algorithm ends in _use_dst_for_bwd. Its layout may be
 *         `any` if `hint_fwd_pd` is given, and becomes the layout that forward read or wrote.
 * @param alpha,beta The parameters of forward.
 * @param hint_fwd_pd The descriptor of forward, or null.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: a parameter is out of range, the shapes differ, or `data_desc` is
 *         `any` without a hint; quern_unimplemented: the problem is legal but not supported. The message cites the
 *         constraint that is violated.
 */
QUERN_API quern_status_t quern_eltwise_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t diff_src_desc,
        const_quern_memory_desc_t diff_dst_desc, const_quern_memory_desc_t data_desc, float alpha, float beta,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a reorder: a copy into another layout or type, with the scales, zero points and post-ops of
 * `attr` (docs/primitives/reorder.md).
 *
 * It runs on a stream of the device's engine (of src_engine if neither or both are devices), and its other arguments
 * must be on that engine. If one tensor is on the CPU, the device's runtime copies it, and its memory must stay alive
 * until the stream has been waited for. A reorder between two devices returns when it has finished. If the descriptors
 * are equal and have no gaps, and there are no attributes, the bytes are copied without a kernel.
 *
 * @param reorder_primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param src_desc The source; its layout must be given.
 * @param src_engine The engine of the source.
 * @param dst_desc The destination, with the dims of the source; its layout must be given.
 * @param dst_engine The engine of the destination.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: the shapes differ, or a layout is `any`; quern_unimplemented: the
 *         problem is legal but not supported. The message cites the constraint that is violated.
 */
QUERN_API quern_status_t quern_reorder_primitive_desc_create(quern_primitive_desc_t *reorder_primitive_desc,
        const_quern_memory_desc_t src_desc, quern_engine_t src_engine, const_quern_memory_desc_t dst_desc,
        quern_engine_t dst_engine, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of dst = src0 alg src1, element by element (docs/primitives/binary.md). A dim of 1 in either
 * source is broadcast.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param alg_kind A quern_binary_… value except quern_binary_select, which needs
 *         quern_binary_primitive_desc_create_v2().
 * @param src0_desc The first source; its layout must be given.
 * @param src1_desc The second source; its layout may be `any`.
 * @param dst_desc The result; its layout may be `any`.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: the algorithm is not one of these, or the shapes do not match;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_binary_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src0_desc,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t dst_desc,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Like quern_binary_primitive_desc_create(), but also with quern_binary_select: dst is src0 where src2 is not 0, and
 * src1 elsewhere.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param alg_kind A quern_binary_… value.
 * @param src0_desc,src1_desc The sources; only the layout of src1 may be `any`.
 * @param src2_desc The condition of a select; null or the zero descriptor for other algorithms.
 * @param dst_desc The result; its layout may be `any`.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: the algorithm is not binary, or the shapes do not match;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_binary_primitive_desc_create_v2(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src0_desc,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t src2_desc, const_quern_memory_desc_t dst_desc,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a weighted sum of tensors of one shape (docs/primitives/sum.md). Source i is argument
 * QUERN_ARG_MULTIPLE_SRC + i of an execution.
 *
 * @param sum_primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param dst_desc The result; null: the type of the first source with layout `any`.
 * @param n Number of sources, at least 1.
 * @param scales `n` factors, one per source.
 * @param src_descs `n` descriptors with layouts; types and layouts may differ.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: `n` is less than 1, a source is null, or the shapes differ;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_sum_primitive_desc_create(quern_primitive_desc_t *sum_primitive_desc,
        quern_engine_t engine, const_quern_memory_desc_t dst_desc, int n, const float *scales,
        const_quern_memory_desc_t const *src_descs, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a concatenation of tensors along one dimension (docs/primitives/concat.md). Source i is
 * argument QUERN_ARG_MULTIPLE_SRC + i of an execution, and may have one scale.
 *
 * @param concat_primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param dst_desc The result; null: the type of the first source with layout `any`.
 * @param n Number of sources, at least 1.
 * @param concat_dimension The dimension, 0 to ndims - 1.
 * @param src_descs `n` descriptors with layouts, equal in all other dims; types and layouts may differ.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: `n` is less than 1, a source is null, or the shapes do not match;
 *         quern_unimplemented: the problem is legal but not supported. The message cites the constraint that is
 *         violated.
 */
QUERN_API quern_status_t quern_concat_primitive_desc_create(quern_primitive_desc_t *concat_primitive_desc,
        quern_engine_t engine, const_quern_memory_desc_t dst_desc, int n, int concat_dimension,
        const_quern_memory_desc_t const *src_descs, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Moves to the next implementation. Every problem has one, so the call never succeeds, and the descriptor is unchanged.
 * @param primitive_desc A primitive descriptor.
 * @return quern_last_impl_reached; quern_invalid_arguments: `primitive_desc` is null.
 */
QUERN_API quern_status_t quern_primitive_desc_next_impl(quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;

/**
 * Copies a primitive descriptor.
 * @param primitive_desc Receives the copy, which the caller owns (quern_primitive_desc_destroy()).
 * @param existing_primitive_desc The descriptor to copy.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_desc_clone(
        quern_primitive_desc_t *primitive_desc, const_quern_primitive_desc_t existing_primitive_desc) QUERN_NOEXCEPT;

/**
 * Returns the attributes of a primitive descriptor.
 * @param primitive_desc A primitive descriptor.
 * @param attr Receives the attributes, which the descriptor owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_desc_get_attr(
        const_quern_primitive_desc_t primitive_desc, const_quern_primitive_attr_t *attr) QUERN_NOEXCEPT;

/**
 * Destroys a primitive descriptor. Primitives that were created from it remain valid.
 * @param primitive_desc A primitive descriptor or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_primitive_desc_destroy(quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;

/**
 * Queries a property of a primitive descriptor. Three queries first fetch or compile the kernel: the time estimate, the
 * scratchpad in scratchpad mode user, and the memory consumption in scratchpad mode library.
 *
 * @param primitive_desc A primitive descriptor.
 * @param what The property.
 * @param index Number of the tensor among those of its role, or the QUERN_ARG_ value of quern_query_exec_arg_md; 0 for
 *         other queries.
 * @param result Receives the value; quern_query_t gives its type. A pointer in it is owned by the descriptor. For a
 *         tensor that the primitive does not have, it is the zero descriptor.
 * @return quern_success; quern_invalid_arguments: `index` is not 0 for the scratchpad or workspace;
 *         quern_unimplemented: the query does not apply to this primitive. If a kernel is fetched, also the statuses of
 *         quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_desc_query(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index, void *result) QUERN_NOEXCEPT;

/**
 * Queries a memory descriptor of a primitive descriptor.
 * @param primitive_desc A primitive descriptor.
 * @param what A query of a memory descriptor (quern_query_…_md).
 * @param index As in quern_primitive_desc_query().
 * @return The descriptor, which the primitive descriptor owns; null if quern_primitive_desc_query() would fail.
 */
QUERN_API const_quern_memory_desc_t quern_primitive_desc_query_md(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index) QUERN_NOEXCEPT;

/**
 * Queries an integer of a primitive descriptor.
 * @param primitive_desc A primitive descriptor.
 * @param what quern_query_num_of_inputs_s32, quern_query_num_of_outputs_s32 or quern_query_axis_s32.
 * @param index Ignored.
 * @return The integer; 0 if the query fails.
 */
QUERN_API int quern_primitive_desc_query_s32(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index) QUERN_NOEXCEPT;

/* --- Primitives -------------------------------------------------------- */

/**
 * Creates a primitive: fetches its kernel from a cache or compiles it. Concurrent calls for the same problem share one
 * compilation.
 *
 * @param primitive Receives the primitive, which the caller owns (quern_primitive_destroy()); null on failure.
 * @param primitive_desc The verified problem. Not modified; may be destroyed before the primitive.
 * @return quern_success; quern_invalid_arguments: a pointer is null, or an environment variable such as QUERN_TIERS has
 *         an unknown value; quern_unimplemented: the target cannot compute the problem; quern_runtime_error: no cache
 *         has the kernel and libquern-compiler cannot be loaded, or the code cannot be loaded; quern_out_of_memory;
 *         quern_internal_error.
 */
QUERN_API quern_status_t quern_primitive_create(
        quern_primitive_t *primitive, const_quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;

/**
 * Creates a primitive from a cache blob, without compiling. The blob is machine code: load it only from a trusted
 * source.
 *
 * @param primitive Receives the primitive, which the caller owns (quern_primitive_destroy()).
 * @param primitive_desc The problem of the blob; may be destroyed before the primitive.
 * @param size Size of the blob in bytes.
 * @param cache_blob Bytes from quern_primitive_get_cache_blob(), or from quern_compile() with quern_form_artifact.
 *         Copied.
 * @return quern_success; quern_invalid_arguments: the blob is damaged, belongs to another problem or build, or needs
 *         instructions that this machine does not have; quern_unimplemented: a limit of arguments or scratch is
 *         exceeded; quern_runtime_error: the device's driver rejects it.
 */
QUERN_API quern_status_t quern_primitive_create_from_cache_blob(quern_primitive_t *primitive,
        const_quern_primitive_desc_t primitive_desc, size_t size, const uint8_t *cache_blob) QUERN_NOEXCEPT;

/**
 * Returns the kernel of a primitive in a form that quern_primitive_create_from_cache_blob() accepts. If the primitive
 * runs the kernel of its family (quern_tiers.h), waits for its specialized kernel.
 *
 * @param primitive A primitive.
 * @param size Bytes that `cache_blob` has room for, if that is not null. Receives the size in bytes.
 * @param cache_blob Receives the bytes; null: only the size is written.
 * @return quern_success; quern_invalid_arguments: `cache_blob` is too short; quern_not_required: the primitive has no
 *         code, because it only copies or a tensor is empty. If a kernel is compiled, also the statuses of
 *         quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_get_cache_blob(
        const_quern_primitive_t primitive, size_t *size, uint8_t *cache_blob) QUERN_NOEXCEPT;

/** One argument of an execution. */
typedef struct {
  int arg;               /**< QUERN_ARG_ value */
  quern_memory_t memory; /**< memory object, owned by the caller */
} quern_exec_arg_t;

/**
 * Executes a primitive. On a CPU it has finished when the call returns; on a device, when the stream has been waited
 * for. Any number of threads may execute the same primitive at the same time, on one stream or several; with scratchpad
 * mode user, each needs its own scratchpad.
 *
 * @param primitive A primitive.
 * @param stream A stream of the primitive's engine.
 * @param nargs Number of entries of `args`.
 * @param args The arguments; null if `nargs` is 0. Arguments that the primitive does not have are ignored. The memory
 *         objects must stay alive until the execution has finished.
 * @return quern_success; quern_invalid_arguments: a required argument is missing or passed twice, has another
 *         descriptor or engine or no buffer, an output overlaps another argument, or the stream is of another engine;
 *         quern_unimplemented: the open sizes exceed a limit; quern_out_of_memory: no scratch; quern_runtime_error: the
 *         device fails.
 */
QUERN_API quern_status_t quern_primitive_execute(const_quern_primitive_t primitive, quern_stream_t stream, int nargs,
        const quern_exec_arg_t *args) QUERN_NOEXCEPT;

/**
 * Returns the descriptor of a primitive.
 * @param primitive A primitive.
 * @param primitive_desc Receives the descriptor, which the primitive owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_get_primitive_desc(
        const_quern_primitive_t primitive, const_quern_primitive_desc_t *primitive_desc) QUERN_NOEXCEPT;

/**
 * Destroys a primitive. No execution of it may be running.
 * @param primitive A primitive or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_primitive_destroy(quern_primitive_t primitive) QUERN_NOEXCEPT;

/* --- The primitive cache ----------------------------------------------- */

/**
 * Returns the capacity of the memory cache, initially 1024 kernels.
 * @param capacity Receives the number of kernels.
 * @return quern_success; quern_invalid_arguments: `capacity` is null.
 */
QUERN_API quern_status_t quern_get_primitive_cache_capacity(int *capacity) QUERN_NOEXCEPT;

/**
 * Sets the capacity of the memory cache. A lower value evicts the least recently used kernels.
 * @param capacity Number of kernels; 0: no memory cache.
 * @return quern_success; quern_invalid_arguments: `capacity` is negative.
 */
QUERN_API quern_status_t quern_set_primitive_cache_capacity(int capacity) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_PRIMITIVE_H */
