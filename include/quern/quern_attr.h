/*===- quern/quern_attr.h - Attributes and post-operations -----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * What modifies a primitive besides its tensors. Attributes are copied when a
 * primitive descriptor is created, which uses each of them or fails with
 * `unimplemented`; none is ignored.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_ATTR_H
#define QUERN_ATTR_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Attributes -------------------------------------------------------- */

QUERN_API quern_status_t quern_primitive_attr_create(quern_primitive_attr_t *attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_clone(
        quern_primitive_attr_t *attr, const_quern_primitive_attr_t existing_attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_destroy(quern_primitive_attr_t attr) QUERN_NOEXCEPT;

QUERN_API quern_status_t quern_primitive_attr_get_fpmath_mode(
        const_quern_primitive_attr_t attr, quern_fpmath_mode_t *mode) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_fpmath_mode(
        quern_primitive_attr_t attr, quern_fpmath_mode_t mode) QUERN_NOEXCEPT;
/** `apply_to_int` extends the permission to integral problems. */
QUERN_API quern_status_t quern_primitive_attr_get_fpmath_mode_v2(
        const_quern_primitive_attr_t attr, quern_fpmath_mode_t *mode, int *apply_to_int) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_fpmath_mode_v2(
        quern_primitive_attr_t attr, quern_fpmath_mode_t mode, int apply_to_int) QUERN_NOEXCEPT;

/** Every result of Quern is deterministic; the flag is kept and part of the key. */
QUERN_API quern_status_t quern_primitive_attr_get_deterministic(
        const_quern_primitive_attr_t attr, int *value) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_deterministic(quern_primitive_attr_t attr, int value) QUERN_NOEXCEPT;

/**
 * The mode in which values are added up. quern_accumulation_mode_f32 makes binary, sum and eltwise compute integers in
 * f32, as oneDNN does; in every other mode they are exact. It changes nothing else: the modes are permissions.
 */
QUERN_API quern_status_t quern_primitive_attr_get_accumulation_mode(
        const_quern_primitive_attr_t attr, quern_accumulation_mode_t *mode) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_accumulation_mode(
        quern_primitive_attr_t attr, quern_accumulation_mode_t mode) QUERN_NOEXCEPT;

QUERN_API quern_status_t quern_primitive_attr_get_scratchpad_mode(
        const_quern_primitive_attr_t attr, quern_scratchpad_mode_t *mode) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_scratchpad_mode(
        quern_primitive_attr_t attr, quern_scratchpad_mode_t mode) QUERN_NOEXCEPT;

/**
 * f32 scales of argument `arg`, given at execution: bit d of `mask` set means a value of its own for each index of dim
 * d.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scales_mask(
        quern_primitive_attr_t attr, int arg, int mask) QUERN_NOEXCEPT;
/** With a type and, for group_ndims 2, group sizes over the last two dims (group_ndims 0: none). */
QUERN_API quern_status_t quern_primitive_attr_set_scales(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;
/**
 * Mask, number of group sizes (0 or 2), the sizes and the type; any of the results may be null. not_required: none
 * were set.
 */
QUERN_API quern_status_t quern_primitive_attr_get_scales(const_quern_primitive_attr_t attr, int arg, int *mask,
        int *group_ndims, quern_dims_t group_dims, quern_data_type_t *data_type) QUERN_NOEXCEPT;
/** s32 zero points of argument `arg`. */
QUERN_API quern_status_t quern_primitive_attr_set_zero_points_mask(
        quern_primitive_attr_t attr, int arg, int mask) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_zero_points(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_get_zero_points(const_quern_primitive_attr_t attr, int arg, int *mask,
        int *group_ndims, quern_dims_t group_dims, quern_data_type_t *data_type) QUERN_NOEXCEPT;

/** The same, and with `is_on_host` one value (mask 0, no groups) that an execution takes from a host scalar. */
QUERN_API quern_status_t quern_primitive_attr_set_scales_v2(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host) QUERN_NOEXCEPT;
/** `mode` other than static_sazp: kept, and refused by every primitive. */
QUERN_API quern_status_t quern_primitive_attr_set_scales_v3(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host,
        quern_quantization_mode_t mode) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_zero_points_v2(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host) QUERN_NOEXCEPT;
/** 1 if `arg`, with QUERN_ARG_ATTR_SCALES or QUERN_ARG_ATTR_ZERO_POINTS in it, is given by a host scalar. */
QUERN_API int quern_primitive_attr_is_on_host(const_quern_primitive_attr_t attr, int arg) QUERN_NOEXCEPT;

/* Dropout: forward softmax, eltwise and binary take it, and others refuse it. With the probability 1 - p an element of
 * the result is kept and multiplied by 1 / (1 - p), else it is 0, before post-ops; p, the seed and the offset are
 * arguments of an execution. */

/** `mask_desc` belongs to `attr`; it is the zero descriptor where no dropout was set, or one that writes no mask. */
QUERN_API quern_status_t quern_primitive_attr_get_dropout(
        const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask_desc) QUERN_NOEXCEPT;
/**
 * Seeds of s32. The mask is of u8, 1 where an element is kept; the zero descriptor stands for dropout that writes
 * none.
 */
QUERN_API quern_status_t quern_primitive_attr_set_dropout(
        quern_primitive_attr_t attr, const_quern_memory_desc_t mask_desc) QUERN_NOEXCEPT;
/** Any of the results may be null. `seed_dt` is undef where no dropout was set. */
QUERN_API quern_status_t quern_primitive_attr_get_dropout_v2(const_quern_primitive_attr_t attr,
        const_quern_memory_desc_t *mask_desc, quern_data_type_t *seed_dt, int *use_offset,
        int *use_host_scalars) QUERN_NOEXCEPT;
/** Seeds are s32 or s64. With `use_offset` an execution gives the place in the random sequence, with `use_host_scalars`
 * its numbers are host scalars. */
QUERN_API quern_status_t quern_primitive_attr_set_dropout_v2(quern_primitive_attr_t attr,
        const_quern_memory_desc_t mask_desc, quern_data_type_t seed_dt, int use_offset,
        int use_host_scalars) QUERN_NOEXCEPT;

/* What follows is kept, so that the getters give it back; every primitive refuses what is not the default. */

QUERN_API quern_status_t quern_primitive_attr_get_rounding(
        quern_primitive_attr_t attr, int arg, quern_rounding_mode_t *mode) QUERN_NOEXCEPT;
/** `arg` is a destination or a gradient. */
QUERN_API quern_status_t quern_primitive_attr_set_rounding(
        quern_primitive_attr_t attr, int arg, quern_rounding_mode_t mode) QUERN_NOEXCEPT;
/** Of the source. */
QUERN_API quern_status_t quern_primitive_attr_set_precomputed_reductions(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;

/** `post_ops` belongs to `attr`. */
QUERN_API quern_status_t quern_primitive_attr_get_post_ops(
        const_quern_primitive_attr_t attr, const_quern_post_ops_t *post_ops) QUERN_NOEXCEPT;
/** Copies. */
QUERN_API quern_status_t quern_primitive_attr_set_post_ops(
        quern_primitive_attr_t attr, const_quern_post_ops_t post_ops) QUERN_NOEXCEPT;

/** RNN data is quantized as q = scale * x + shift. */
QUERN_API quern_status_t quern_primitive_attr_set_rnn_data_qparams(
        quern_primitive_attr_t attr, const float scale, const float shift) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_get_rnn_data_qparams(
        const_quern_primitive_attr_t attr, float *scale, float *shift) QUERN_NOEXCEPT;
/** `count` scales are copied; mask 0 takes exactly one. */
QUERN_API quern_status_t quern_primitive_attr_set_rnn_weights_qparams(
        quern_primitive_attr_t attr, quern_dim_t count, int mask, const float *scales) QUERN_NOEXCEPT;
/** `scales` belongs to `attr`. */
QUERN_API quern_status_t quern_primitive_attr_get_rnn_weights_qparams(
        const_quern_primitive_attr_t attr, quern_dim_t *count, int *mask, const float **scales) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_rnn_weights_projection_qparams(
        quern_primitive_attr_t attr, quern_dim_t count, int mask, const float *scales) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_get_rnn_weights_projection_qparams(
        const_quern_primitive_attr_t attr, quern_dim_t *count, int *mask, const float **scales) QUERN_NOEXCEPT;

/* --- Post-operations: applied to the result in the order appended, at most 32 --- */

QUERN_API quern_status_t quern_post_ops_create(quern_post_ops_t *post_ops) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_clone(
        quern_post_ops_t *post_ops, const_quern_post_ops_t existing_post_ops) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_destroy(quern_post_ops_t post_ops) QUERN_NOEXCEPT;
/** -1 for a null handle. */
QUERN_API int quern_post_ops_len(const_quern_post_ops_t post_ops) QUERN_NOEXCEPT;
/** quern_undefined_primitive for an index out of range. */
QUERN_API quern_primitive_kind_t quern_post_ops_get_kind(const_quern_post_ops_t post_ops, int index) QUERN_NOEXCEPT;

/** dst = result + scale * (old dst - zero_point), the old dst read as `data_type` (undef: the destination's own). */
QUERN_API quern_status_t quern_post_ops_append_sum(
        quern_post_ops_t post_ops, float scale, int32_t zero_point, quern_data_type_t data_type) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_get_params_sum(const_quern_post_ops_t post_ops, int index, float *scale,
        int32_t *zero_point, quern_data_type_t *data_type) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_append_eltwise(
        quern_post_ops_t post_ops, quern_alg_kind_t alg_kind, float alpha, float beta) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_get_params_eltwise(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, float *alpha, float *beta) QUERN_NOEXCEPT;
/** `src1` broadcasts over its dimensions of size 1 and is given at execution. */
QUERN_API quern_status_t quern_post_ops_append_binary(
        quern_post_ops_t post_ops, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src1_desc) QUERN_NOEXCEPT;
/** With the third operand of quern_binary_select; ignored for the other algorithms. */
QUERN_API quern_status_t quern_post_ops_append_binary_v2(quern_post_ops_t post_ops, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t src2_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_get_params_binary(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, const_quern_memory_desc_t *src1_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_get_params_binary_v2(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, const_quern_memory_desc_t *src1_desc,
        const_quern_memory_desc_t *src2_desc) QUERN_NOEXCEPT;
/** Slopes given at execution, one for each index of the masked dims. */
QUERN_API quern_status_t quern_post_ops_append_prelu(quern_post_ops_t post_ops, int mask) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_post_ops_get_params_prelu(
        const_quern_post_ops_t post_ops, int index, int *mask) QUERN_NOEXCEPT;

/** A depthwise convolution, which every primitive refuses. */
QUERN_API quern_status_t quern_post_ops_append_dw(quern_post_ops_t post_ops, quern_data_type_t weights_data_type,
        quern_data_type_t bias_data_type, quern_data_type_t dst_data_type, quern_dim_t kernel_size,
        quern_dim_t stride_size, quern_dim_t padding_l_size) QUERN_NOEXCEPT;
/** Any of the results may be null. */
QUERN_API quern_status_t quern_post_ops_get_params_dw(const_quern_post_ops_t post_ops, int index,
        quern_data_type_t *weights_data_type, quern_data_type_t *bias_data_type, quern_data_type_t *dst_data_type,
        quern_dim_t *kernel_size, quern_dim_t *stride_size, quern_dim_t *padding_l_size) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ATTR_H */
