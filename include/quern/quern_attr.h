/*===- quern/quern_attr.h - Attributes and post-operations -----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Attributes modify what a primitive computes. They are copied when a primitive
 * descriptor is created, which uses each of them or fails with
 * quern_unimplemented; none is ignored.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_ATTR_H
#define QUERN_ATTR_H

#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Attributes -------------------------------------------------------- */

/**
 * Creates attributes with default values; the fpmath mode is quern_get_default_fpmath_mode().
 * @param attr Receives the attributes, which the caller owns (quern_primitive_attr_destroy()).
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_create(quern_primitive_attr_t *attr) QUERN_NOEXCEPT;

/**
 * Copies attributes.
 * @param attr Receives the copy, which the caller owns (quern_primitive_attr_destroy()).
 * @param existing_attr The attributes to copy.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_clone(
        quern_primitive_attr_t *attr, const_quern_primitive_attr_t existing_attr) QUERN_NOEXCEPT;

/**
 * Destroys attributes.
 * @param attr Attributes or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_primitive_attr_destroy(quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Returns the fpmath mode.
 * @param attr The attributes.
 * @param mode Receives the mode.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_fpmath_mode(
        const_quern_primitive_attr_t attr, quern_fpmath_mode_t *mode) QUERN_NOEXCEPT;

/**
 * Sets the fpmath mode, and clears `apply_to_int`.
 * @param attr The attributes to modify.
 * @param mode The mode.
 * @return quern_success; quern_invalid_arguments: the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_fpmath_mode(
        quern_primitive_attr_t attr, quern_fpmath_mode_t mode) QUERN_NOEXCEPT;

/**
 * Returns the fpmath mode and whether it applies to integers.
 * @param attr The attributes.
 * @param mode Receives the mode.
 * @param apply_to_int Receives 1 if the permission extends to problems on integers, 0 otherwise; may be null.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_fpmath_mode_v2(
        const_quern_primitive_attr_t attr, quern_fpmath_mode_t *mode, int *apply_to_int) QUERN_NOEXCEPT;

/**
 * Sets the fpmath mode and whether it applies to integers.
 * @param attr The attributes to modify.
 * @param mode The mode.
 * @param apply_to_int Nonzero extends the permission to problems on integers.
 * @return quern_success; quern_invalid_arguments: the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_fpmath_mode_v2(
        quern_primitive_attr_t attr, quern_fpmath_mode_t mode, int apply_to_int) QUERN_NOEXCEPT;

/**
 * Returns the deterministic flag.
 * @param attr The attributes.
 * @param value Receives 0 or 1.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_deterministic(
        const_quern_primitive_attr_t attr, int *value) QUERN_NOEXCEPT;

/**
 * Sets the deterministic flag. All results of Quern are deterministic; the flag is part of the key, and keeps a
 * primitive from changing its kernel (quern_tiers.h).
 *
 * @param attr The attributes to modify.
 * @param value Nonzero sets the flag.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_set_deterministic(quern_primitive_attr_t attr, int value) QUERN_NOEXCEPT;

/**
 * Returns the accumulation mode.
 * @param attr The attributes.
 * @param mode Receives the mode.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_accumulation_mode(
        const_quern_primitive_attr_t attr, quern_accumulation_mode_t *mode) QUERN_NOEXCEPT;

/**
 * Sets the accumulation mode. With quern_accumulation_mode_f32, binary, sum and eltwise compute integers in f32, as
 * oneDNN does; in all other modes they are exact. The modes are permissions and have no other effect.
 *
 * @param attr The attributes to modify.
 * @param mode The mode.
 * @return quern_success; quern_invalid_arguments: the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_accumulation_mode(
        quern_primitive_attr_t attr, quern_accumulation_mode_t mode) QUERN_NOEXCEPT;

/**
 * Returns the scratchpad mode.
 * @param attr The attributes.
 * @param mode Receives the mode.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_scratchpad_mode(
        const_quern_primitive_attr_t attr, quern_scratchpad_mode_t *mode) QUERN_NOEXCEPT;

/**
 * Sets the scratchpad mode. With quern_scratchpad_mode_user, an execution needs QUERN_ARG_SCRATCHPAD if the descriptor
 * of quern_query_scratchpad_md is not zero.
 *
 * @param attr The attributes to modify.
 * @param mode The mode.
 * @return quern_success; quern_invalid_arguments: the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scratchpad_mode(
        quern_primitive_attr_t attr, quern_scratchpad_mode_t mode) QUERN_NOEXCEPT;

/**
 * Declares f32 scales of an argument. Their values are argument QUERN_ARG_ATTR_SCALES | arg of an execution.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @return quern_success; quern_invalid_arguments: the argument or the mask is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scales_mask(
        quern_primitive_attr_t attr, int arg, int mask) QUERN_NOEXCEPT;

/**
 * Declares scales of an argument with a type and groups.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the scales.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scales(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Returns the scales that are declared for an argument. Each result may be null.
 * @param attr The attributes.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask,data_type Receive the mask and the type.
 * @param group_ndims,group_dims Receive the number of group sizes (0 or 2) and the sizes in elements.
 * @return quern_success; quern_not_required: none are declared; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_scales(const_quern_primitive_attr_t attr, int arg, int *mask,
        int *group_ndims, quern_dims_t group_dims, quern_data_type_t *data_type) QUERN_NOEXCEPT;

/**
 * Declares s32 zero points of an argument. Their values are argument QUERN_ARG_ATTR_ZERO_POINTS | arg of an execution.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @return quern_success; quern_invalid_arguments: the argument or the mask is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_zero_points_mask(
        quern_primitive_attr_t attr, int arg, int mask) QUERN_NOEXCEPT;

/**
 * Declares zero points of an argument with a type and groups.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the zero points.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_zero_points(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Returns the zero points that are declared for an argument. Each result may be null.
 * @param attr The attributes.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask,data_type Receive the mask and the type.
 * @param group_ndims,group_dims Receive the number of group sizes (0 or 2) and the sizes in elements.
 * @return quern_success; quern_not_required: none are declared; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_zero_points(const_quern_primitive_attr_t attr, int arg, int *mask,
        int *group_ndims, quern_dims_t group_dims, quern_data_type_t *data_type) QUERN_NOEXCEPT;

/**
 * Like quern_primitive_attr_set_scales(), but the scale may be a host scalar.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the scales.
 * @param is_on_host Nonzero: one value, which an execution takes from a host scalar; requires mask 0 and no groups.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scales_v2(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host) QUERN_NOEXCEPT;

/**
 * Like quern_primitive_attr_set_scales_v2(), but with a quantization mode.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the scales.
 * @param is_on_host Nonzero: one value, which an execution takes from a host scalar; requires mask 0 and no groups.
 * @param mode quern_quantization_mode_static_sazp; every primitive descriptor rejects the other modes as unimplemented.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range, or
 *         the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_scales_v3(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host,
        quern_quantization_mode_t mode) QUERN_NOEXCEPT;

/**
 * Like quern_primitive_attr_set_zero_points(), but the zero point may be a host scalar.
 * @param attr The attributes to modify.
 * @param arg The argument: a QUERN_ARG_ value of a tensor or of a post-op's tensor.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the zero points.
 * @param is_on_host Nonzero: one value, which an execution takes from a host scalar; requires mask 0 and no groups.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_zero_points_v2(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type, int is_on_host) QUERN_NOEXCEPT;

/**
 * Returns whether scales or zero points are a host scalar.
 * @param attr The attributes or null.
 * @param arg QUERN_ARG_ATTR_SCALES or QUERN_ARG_ATTR_ZERO_POINTS, combined with the QUERN_ARG_ value of a tensor.
 * @return 1 if so; 0 otherwise or if none are declared.
 */
QUERN_API int quern_primitive_attr_is_on_host(const_quern_primitive_attr_t attr, int arg) QUERN_NOEXCEPT;

/* Dropout is supported by forward softmax, eltwise and binary. An element of the result is kept with probability 1 - p
 * and multiplied by 1 / (1 - p), and otherwise set to 0, before the post-ops. p, the seed and the offset are arguments
 * of an execution. */

/**
 * Returns the descriptor of the dropout mask.
 * @param attr The attributes.
 * @param mask_desc Receives the descriptor, which `attr` owns; the zero descriptor if no mask is written or no dropout
 *         is set. May be null.
 * @return quern_success; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_dropout(
        const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask_desc) QUERN_NOEXCEPT;

/**
 * Enables dropout with an s32 seed.
 * @param attr The attributes to modify.
 * @param mask_desc Descriptor of the mask that executions write: u8, 1 for a kept element. The zero descriptor: no mask
 *         is written.
 * @return quern_success; quern_invalid_arguments: the mask is not u8.
 */
QUERN_API quern_status_t quern_primitive_attr_set_dropout(
        quern_primitive_attr_t attr, const_quern_memory_desc_t mask_desc) QUERN_NOEXCEPT;

/**
 * Returns the dropout parameters. Each result may be null.
 * @param attr The attributes.
 * @param mask_desc Receives the descriptor, which `attr` owns.
 * @param seed_dt Receives the type of the seed; quern_data_type_undef if no dropout is set.
 * @param use_offset Receives 1 if executions take an offset.
 * @param use_host_scalars Receives 1 if the numbers are host scalars.
 * @return quern_success; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_dropout_v2(const_quern_primitive_attr_t attr,
        const_quern_memory_desc_t *mask_desc, quern_data_type_t *seed_dt, int *use_offset,
        int *use_host_scalars) QUERN_NOEXCEPT;

/**
 * Enables dropout.
 * @param attr The attributes to modify.
 * @param mask_desc Descriptor of the mask that executions write: u8, 1 for a kept element. The zero descriptor: no mask
 *         is written.
 * @param seed_dt Type of the seed, quern_s32 or quern_s64.
 * @param use_offset Nonzero: executions take the position in the random sequence (QUERN_ARG_ATTR_DROPOUT_OFFSET).
 * @param use_host_scalars Nonzero: probability, seed and offset are host scalars.
 * @return quern_success; quern_invalid_arguments: the mask is not u8, or the seed is of another type.
 */
QUERN_API quern_status_t quern_primitive_attr_set_dropout_v2(quern_primitive_attr_t attr,
        const_quern_memory_desc_t mask_desc, quern_data_type_t seed_dt, int use_offset,
        int use_host_scalars) QUERN_NOEXCEPT;

/* The attributes of the next three functions are only stored; primitive descriptors reject all values except the
 * default as unimplemented. */

/**
 * Returns the rounding mode of an argument.
 * @param attr The attributes.
 * @param arg The argument.
 * @param mode Receives the mode.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_rounding(
        quern_primitive_attr_t attr, int arg, quern_rounding_mode_t *mode) QUERN_NOEXCEPT;

/**
 * Sets the rounding mode of a result.
 * @param attr The attributes to modify.
 * @param arg QUERN_ARG_DST, QUERN_ARG_DIFF_SRC or QUERN_ARG_DIFF_WEIGHTS.
 * @param mode The mode.
 * @return quern_success; quern_invalid_arguments: the argument is another one, or the mode is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_rounding(
        quern_primitive_attr_t attr, int arg, quern_rounding_mode_t mode) QUERN_NOEXCEPT;

/**
 * Declares precomputed reductions of the source.
 * @param attr The attributes to modify.
 * @param arg QUERN_ARG_SRC.
 * @param mask Bit d is set if each index of dim d has its own value; 0: one value for the tensor.
 * @param group_ndims,group_dims 0 and null, or 2 and the sizes in elements of groups over the last two dims.
 * @param data_type Type of the reductions.
 * @return quern_success; quern_invalid_arguments: the argument, the mask, the groups or the type is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_precomputed_reductions(quern_primitive_attr_t attr, int arg, int mask,
        int group_ndims, const quern_dims_t group_dims, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Returns the post-ops of attributes.
 * @param attr The attributes.
 * @param post_ops Receives the list, which `attr` owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_post_ops(
        const_quern_primitive_attr_t attr, const_quern_post_ops_t *post_ops) QUERN_NOEXCEPT;

/**
 * Sets the post-ops of attributes.
 * @param attr The attributes to modify.
 * @param post_ops The list; copied.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_set_post_ops(
        quern_primitive_attr_t attr, const_quern_post_ops_t post_ops) QUERN_NOEXCEPT;

/**
 * Sets the quantization of RNN data: q = scale * x + shift.
 * @param attr The attributes to modify.
 * @param scale,shift The parameters.
 * @return quern_success; quern_invalid_arguments: a parameter is not finite.
 */
QUERN_API quern_status_t quern_primitive_attr_set_rnn_data_qparams(
        quern_primitive_attr_t attr, const float scale, const float shift) QUERN_NOEXCEPT;

/**
 * Returns the quantization of RNN data.
 * @param attr The attributes.
 * @param scale,shift Receive the parameters; each may be null.
 * @return quern_success; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_rnn_data_qparams(
        const_quern_primitive_attr_t attr, float *scale, float *shift) QUERN_NOEXCEPT;

/**
 * Sets the scales of quantized RNN weights.
 * @param attr The attributes to modify.
 * @param count Number of scales, at least 1; 1 if `mask` is 0.
 * @param mask Bit d is set if each index of dim d of the weights has its own scale.
 * @param scales `count` scales; copied.
 * @return quern_success; quern_invalid_arguments: `count` or `mask` is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_rnn_weights_qparams(
        quern_primitive_attr_t attr, quern_dim_t count, int mask, const float *scales) QUERN_NOEXCEPT;

/**
 * Returns the scales of quantized RNN weights. Each result may be null.
 * @param attr The attributes.
 * @param count Receives the number of scales.
 * @param mask Receives the mask.
 * @param scales Receives the scales, which `attr` owns; one scale of 1 if none are set.
 * @return quern_success; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_rnn_weights_qparams(
        const_quern_primitive_attr_t attr, quern_dim_t *count, int *mask, const float **scales) QUERN_NOEXCEPT;

/**
 * Sets the scales of quantized projection weights.
 * @param attr The attributes to modify.
 * @param count Number of scales, at least 1; 1 if `mask` is 0.
 * @param mask Bit d is set if each index of dim d of the weights has its own scale.
 * @param scales `count` scales; copied.
 * @return quern_success; quern_invalid_arguments: `count` or `mask` is out of range.
 */
QUERN_API quern_status_t quern_primitive_attr_set_rnn_weights_projection_qparams(
        quern_primitive_attr_t attr, quern_dim_t count, int mask, const float *scales) QUERN_NOEXCEPT;

/**
 * Returns the scales of quantized projection weights. Each result may be null.
 * @param attr The attributes.
 * @param count Receives the number of scales.
 * @param mask Receives the mask.
 * @param scales Receives the scales, which `attr` owns; one scale of 1 if none are set.
 * @return quern_success; quern_invalid_arguments: `attr` is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_rnn_weights_projection_qparams(
        const_quern_primitive_attr_t attr, quern_dim_t *count, int *mask, const float **scales) QUERN_NOEXCEPT;

/* --- Post-ops: applied to the result in the order in which they were appended, at most 32 --- */

/**
 * Creates an empty list of post-ops.
 * @param post_ops Receives the list, which the caller owns (quern_post_ops_destroy()).
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_post_ops_create(quern_post_ops_t *post_ops) QUERN_NOEXCEPT;

/**
 * Copies a list of post-ops.
 * @param post_ops Receives the copy, which the caller owns (quern_post_ops_destroy()).
 * @param existing_post_ops The list to copy.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_post_ops_clone(
        quern_post_ops_t *post_ops, const_quern_post_ops_t existing_post_ops) QUERN_NOEXCEPT;

/**
 * Destroys a list of post-ops.
 * @param post_ops A list or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_post_ops_destroy(quern_post_ops_t post_ops) QUERN_NOEXCEPT;

/**
 * Returns the length of a list of post-ops.
 * @param post_ops The list or null.
 * @return The number of post-ops; -1 if the handle is null.
 */
QUERN_API int quern_post_ops_len(const_quern_post_ops_t post_ops) QUERN_NOEXCEPT;

/**
 * Returns the kind of a post-op.
 * @param post_ops,index The list or null, and the position of the post-op from 0.
 * @return The kind; quern_undefined_primitive if `index` is out of range.
 */
QUERN_API quern_primitive_kind_t quern_post_ops_get_kind(const_quern_post_ops_t post_ops, int index) QUERN_NOEXCEPT;

/**
 * Appends dst = result + scale * (old dst - zero_point).
 * @param post_ops The list to modify.
 * @param scale,zero_point The parameters.
 * @param data_type Type as which the old dst is read; quern_data_type_undef: the type of dst.
 * @return quern_success; quern_invalid_arguments: the type is unknown; quern_out_of_memory: the list has 32 entries.
 */
QUERN_API quern_status_t quern_post_ops_append_sum(
        quern_post_ops_t post_ops, float scale, int32_t zero_point, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Returns the parameters of a sum. Each result may be null.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param scale,zero_point,data_type Receive the parameters.
 * @return quern_success; quern_invalid_arguments: there is no sum at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_sum(const_quern_post_ops_t post_ops, int index, float *scale,
        int32_t *zero_point, quern_data_type_t *data_type) QUERN_NOEXCEPT;

/**
 * Appends an eltwise function of the result.
 * @param post_ops The list to modify.
 * @param alg_kind A quern_eltwise_… value.
 * @param alpha,beta Parameters of the algorithm.
 * @return quern_success; quern_invalid_arguments: the algorithm is not eltwise, or clip has alpha > beta;
 *         quern_out_of_memory: the list has 32 entries.
 */
QUERN_API quern_status_t quern_post_ops_append_eltwise(
        quern_post_ops_t post_ops, quern_alg_kind_t alg_kind, float alpha, float beta) QUERN_NOEXCEPT;

/**
 * Returns the parameters of an eltwise post-op. Each result may be null.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param alg_kind,alpha,beta Receive the parameters.
 * @return quern_success; quern_invalid_arguments: there is no eltwise post-op at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_eltwise(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, float *alpha, float *beta) QUERN_NOEXCEPT;

/**
 * Appends dst = result alg src1, where src1 is an argument of an execution.
 * @param post_ops The list to modify.
 * @param alg_kind A quern_binary_… value except quern_binary_select.
 * @param src1_desc Descriptor of src1, which is broadcast along its dims of size 1; copied.
 * @return quern_success; quern_invalid_arguments: the algorithm is another one; quern_out_of_memory: the list has 32
 *         entries.
 */
QUERN_API quern_status_t quern_post_ops_append_binary(
        quern_post_ops_t post_ops, quern_alg_kind_t alg_kind, const_quern_memory_desc_t src1_desc) QUERN_NOEXCEPT;

/**
 * Like quern_post_ops_append_binary(), but also with quern_binary_select.
 * @param post_ops The list to modify.
 * @param alg_kind A quern_binary_… value.
 * @param src1_desc Descriptor of src1, which is broadcast along its dims of size 1; copied.
 * @param src2_desc Descriptor of the condition of a select; copied. Ignored for other algorithms, and may then be null.
 * @return quern_success; quern_invalid_arguments: the algorithm is not binary; quern_out_of_memory: the list has 32
 *         entries.
 */
QUERN_API quern_status_t quern_post_ops_append_binary_v2(quern_post_ops_t post_ops, quern_alg_kind_t alg_kind,
        const_quern_memory_desc_t src1_desc, const_quern_memory_desc_t src2_desc) QUERN_NOEXCEPT;

/**
 * Returns the parameters of a binary post-op. Each result may be null.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param alg_kind Receives the algorithm.
 * @param src1_desc Receives the descriptor, which the list owns.
 * @return quern_success; quern_invalid_arguments: there is no binary post-op at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_binary(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, const_quern_memory_desc_t *src1_desc) QUERN_NOEXCEPT;

/**
 * Like quern_post_ops_get_params_binary(), but also returns the condition of a select.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param alg_kind Receives the algorithm.
 * @param src1_desc Receives the descriptor of src1, which the list owns.
 * @param src2_desc Receives the descriptor of the condition, which the list owns; null for other algorithms.
 * @return quern_success; quern_invalid_arguments: there is no binary post-op at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_binary_v2(const_quern_post_ops_t post_ops, int index,
        quern_alg_kind_t *alg_kind, const_quern_memory_desc_t *src1_desc,
        const_quern_memory_desc_t *src2_desc) QUERN_NOEXCEPT;

/**
 * Appends a PReLU, whose slopes are an argument of an execution.
 * @param post_ops The list to modify.
 * @param mask Bit d is set if each index of dim d has its own slope.
 * @return quern_success; quern_invalid_arguments: the mask is out of range; quern_out_of_memory: the list has 32
 *         entries.
 */
QUERN_API quern_status_t quern_post_ops_append_prelu(quern_post_ops_t post_ops, int mask) QUERN_NOEXCEPT;

/**
 * Returns the mask of a PReLU.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param mask Receives the mask; may be null.
 * @return quern_success; quern_invalid_arguments: there is no PReLU at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_prelu(
        const_quern_post_ops_t post_ops, int index, int *mask) QUERN_NOEXCEPT;

/**
 * Appends a depthwise convolution, which every primitive descriptor rejects as unimplemented.
 * @param post_ops The list to modify.
 * @param weights_data_type,bias_data_type,dst_data_type Types; only the bias may be undefined.
 * @param kernel_size Size of the kernel, at least 1.
 * @param stride_size Stride, at least 1.
 * @param padding_l_size Padding on the left, 0 to kernel_size - 1.
 * @return quern_success; quern_invalid_arguments: a parameter is out of range; quern_out_of_memory: the list has 32
 *         entries.
 */
QUERN_API quern_status_t quern_post_ops_append_dw(quern_post_ops_t post_ops, quern_data_type_t weights_data_type,
        quern_data_type_t bias_data_type, quern_data_type_t dst_data_type, quern_dim_t kernel_size,
        quern_dim_t stride_size, quern_dim_t padding_l_size) QUERN_NOEXCEPT;

/**
 * Returns the parameters of a depthwise convolution. Each result may be null.
 * @param post_ops,index The list, and the position of the post-op from 0.
 * @param weights_data_type,bias_data_type,dst_data_type Receive the types.
 * @param kernel_size,stride_size,padding_l_size Receive the sizes.
 * @return quern_success; quern_invalid_arguments: there is no convolution at `index`.
 */
QUERN_API quern_status_t quern_post_ops_get_params_dw(const_quern_post_ops_t post_ops, int index,
        quern_data_type_t *weights_data_type, quern_data_type_t *bias_data_type, quern_data_type_t *dst_data_type,
        quern_dim_t *kernel_size, quern_dim_t *stride_size, quern_dim_t *padding_l_size) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_ATTR_H */
