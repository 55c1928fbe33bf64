/*===- quern/quern_primitive.h - Primitive descriptors and primitives ------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A primitive descriptor is a verified problem; a primitive is its compiled
 * kernel. Creating a primitive looks in the memory cache, then in the disk
 * cache, then compiles.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_PRIMITIVE_H
#define QUERN_PRIMITIVE_H

#include "quern/quern_attr.h"
#include "quern/quern_query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Primitive descriptors --------------------------------------------- */
/* A null `attr` means default attributes. unimplemented: legal, but not supported; the message says what. */

/** Softmax along `softmax_axis`: prop_kind forward_training or forward_inference; dst_desc may be `any`. */
QUERN_API quern_status_t quern_softmax_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src_desc, const_quern_memory_desc_t dst_desc, int softmax_axis,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * The gradient of the source from forward's result and its gradient. `hint_fwd_pd` is the forward descriptor, or null;
 * it is required if dst_desc is `any`, which then becomes what forward has written. diff_dst_desc and diff_src_desc may
 * be `any`.
 */
QUERN_API quern_status_t quern_softmax_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t diff_src_desc,
        const_quern_memory_desc_t diff_dst_desc, const_quern_memory_desc_t dst_desc, int softmax_axis,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * A function of each element, with two parameters whose meaning is its own: prop_kind forward_training or
 * forward_inference; dst_desc may be `any`. See docs/primitives/eltwise.md.
 */
QUERN_API quern_status_t quern_eltwise_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src_desc, const_quern_memory_desc_t dst_desc, float alpha, float beta,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * The gradient of the source from that of the result and from data_desc, which is the source, or the result for an
 * algorithm that ends in _use_dst_for_bwd. `hint_fwd_pd` is the forward descriptor, or null; it is required if
 * data_desc is `any`, which then becomes what forward has read or written. diff_dst_desc and diff_src_desc may be
 * `any`.
 */
QUERN_API quern_status_t quern_eltwise_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t diff_src_desc,
        const_quern_memory_desc_t diff_dst_desc, const_quern_memory_desc_t data_desc, float alpha, float beta,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * A copy into another layout and type, with the scales, zero points and post-ops of `attr`. Both descriptors have a
 * layout. It runs on a stream of the engine that is a device, of src_engine if neither or both are; what else it takes
 * is there, too. Between engines the device computes and copies what the other side has, which like all memory must
 * live until the stream has been waited for; between two devices an execution waits. Equal descriptors without gaps and
 * attributes are copied without a kernel.
 */
QUERN_API quern_status_t quern_reorder_primitive_desc_create(quern_primitive_desc_t *reorder_primitive_desc,
        const_quern_memory_desc_t src_desc, quern_engine_t src_engine, const_quern_memory_desc_t dst_desc,
        quern_engine_t dst_engine, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * dst = src0 alg src1, element by element; a dim of 1 in either source repeats. src1_desc and dst_desc may be `any`.
 * invalid_arguments: an alg_kind that is not binary, and select, which needs the function below.
 */
QUERN_API quern_status_t quern_binary_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src0_desc,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t dst_desc,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * Likewise, with the condition of a select: dst is src0 where src2 is not 0, else src1. Of other algorithms src2_desc
 * is null or zero.
 */
QUERN_API quern_status_t quern_binary_primitive_desc_create_v2(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src0_desc,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t src2_desc, const_quern_memory_desc_t dst_desc,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * The sum of `n` tensors of one shape, of any types and layouts, each times its scale: QUERN_ARG_MULTIPLE_SRC + i at
 * execution, i below n. A null dst_desc stands for the first source's type and layout `any`.
 */
QUERN_API quern_status_t quern_sum_primitive_desc_create(quern_primitive_desc_t *sum_primitive_desc,
        quern_engine_t engine, const_quern_memory_desc_t dst_desc, int n, const float *scales,
        const_quern_memory_desc_t const *src_descs, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
/**
 * `n` tensors one after the other along dim `concat_dimension`, of any types and layouts: QUERN_ARG_MULTIPLE_SRC + i at
 * execution, i below n. A null dst_desc stands for the first source's type and layout `any`. A source may have one
 * scale.
 */
QUERN_API quern_status_t quern_concat_primitive_desc_create(quern_primitive_desc_t *concat_primitive_desc,
        quern_engine_t engine, const_quern_memory_desc_t dst_desc, int n, int concat_dimension,
        const_quern_memory_desc_t const *src_descs, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/** Moves to the next implementation; last_impl_reached leaves the descriptor as it is. */
QUERN_API quern_status_t quern_primitive_desc_next_impl(quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_desc_clone(
        quern_primitive_desc_t *primitive_desc, const_quern_primitive_desc_t existing_primitive_desc) QUERN_NOEXCEPT;
/** `attr` belongs to the descriptor. */
QUERN_API quern_status_t quern_primitive_desc_get_attr(
        const_quern_primitive_desc_t primitive_desc, const_quern_primitive_attr_t *attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_desc_destroy(quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;

/**
 * unimplemented: there is no such thing for this primitive; but a tensor that it does not have is the zero descriptor.
 * What a pointer result points to belongs to the descriptor. The scratchpad and the memory consumption are known only
 * once the kernel is: the first such query brings it from a cache or compiles it.
 */
QUERN_API quern_status_t quern_primitive_desc_query(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index, void *result) QUERN_NOEXCEPT;
/** The queried memory descriptor, or null where quern_primitive_desc_query() fails. */
QUERN_API const_quern_memory_desc_t quern_primitive_desc_query_md(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index) QUERN_NOEXCEPT;
/** The queried integer, or 0. */
QUERN_API int quern_primitive_desc_query_s32(
        const_quern_primitive_desc_t primitive_desc, quern_query_t what, int index) QUERN_NOEXCEPT;

/* --- Primitives -------------------------------------------------------- */

QUERN_API quern_status_t quern_primitive_create(
        quern_primitive_t *primitive, const_quern_primitive_desc_t primitive_desc) QUERN_NOEXCEPT;
/**
 * From what quern_primitive_get_cache_blob() gave, or quern_compile() as quern_form_artifact, without compiling. The
 * blob holds machine code: take it from where you would take a program. invalid_arguments: damaged, of another problem
 * or build, or for an instruction set that this machine does not have.
 */
QUERN_API quern_status_t quern_primitive_create_from_cache_blob(quern_primitive_t *primitive,
        const_quern_primitive_desc_t primitive_desc, size_t size, const uint8_t *cache_blob) QUERN_NOEXCEPT;
/** With a null `cache_blob` writes the size to `size`. not_required: a primitive on an empty tensor has no code. */
QUERN_API quern_status_t quern_primitive_get_cache_blob(
        const_quern_primitive_t primitive, size_t *size, uint8_t *cache_blob) QUERN_NOEXCEPT;

typedef struct {
  int arg; /**< QUERN_ARG_ index */
  quern_memory_t memory;
} quern_exec_arg_t;

/**
 * Runs the kernel; on a CPU it has finished on return. Any number of threads may execute the same primitive at once, on
 * one stream or several (with scratchpad mode user, each with a scratchpad of its own). Arguments that the primitive
 * does not take are ignored. invalid_arguments: a required argument is missing or given twice, or has another
 * descriptor or engine or no buffer.
 */
QUERN_API quern_status_t quern_primitive_execute(const_quern_primitive_t primitive, quern_stream_t stream, int nargs,
        const quern_exec_arg_t *args) QUERN_NOEXCEPT;
/** `primitive_desc` belongs to the primitive. */
QUERN_API quern_status_t quern_primitive_get_primitive_desc(
        const_quern_primitive_t primitive, const_quern_primitive_desc_t *primitive_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_destroy(quern_primitive_t primitive) QUERN_NOEXCEPT;

/* --- The primitive cache ----------------------------------------------- */

/** Entries of the memory cache; 0 switches it off; lowering it evicts the least recently used. Initially 1024. */
QUERN_API quern_status_t quern_get_primitive_cache_capacity(int *capacity) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_set_primitive_cache_capacity(int capacity) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_PRIMITIVE_H */
