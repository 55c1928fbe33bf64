/*===- quern/quern_types.h - Enumerations and handles of the C API --------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * The concepts and the values are oneDNN 3.x's, with quern_ for dnnl_, so that
 * porting is a matter of renaming. What Quern adds starts at 100 (statuses) or
 * has a name of its own (quern_ext.h).
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_TYPES_H
#define QUERN_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QUERN_API __attribute__((visibility("default")))
#else
#define QUERN_API
#endif

#ifdef __cplusplus
#define QUERN_NOEXCEPT noexcept
/* In C++ an enumeration holds any int, as in C, so that an unknown value can be received and refused. */
#define QUERN_INT : int
extern "C" {
#else
#define QUERN_NOEXCEPT
#define QUERN_INT
#endif

/** What became of a call. After any failure quern_get_last_error_message() gives the reason. */
typedef enum QUERN_INT {
  quern_success = 0,
  quern_out_of_memory = 1,
  quern_invalid_arguments = 2, /**< the caller's bug: the message names the value and the limit */
  quern_unimplemented = 3,     /**< legal, but not supported: fall back to something else */
  quern_last_impl_reached = 4, /**< there is no further implementation */
  quern_runtime_error = 5,     /**< the machine: a missing library, the disk, a device */
  quern_not_required = 6,      /**< what was queried does not exist for this object */
  quern_internal_error = 100   /**< Quern's bug: please report it with the message */
} quern_status_t;

typedef enum QUERN_INT {
  quern_data_type_undef = 0,
  quern_f16 = 1,
  quern_bf16 = 2,
  quern_f32 = 3,
  quern_s32 = 4,
  quern_s8 = 5,
  quern_u8 = 6,
  quern_f64 = 7,
  quern_boolean = 8,
  quern_f8_e5m2 = 9,
  quern_f8_e4m3 = 10,
  quern_s4 = 11,
  quern_u4 = 12,
  quern_e8m0 = 13,
  quern_f4_e2m1 = 14,
  quern_f4_e3m0 = 15,
  quern_s64 = 16 /**< of the indices of sparse tensors */
} quern_data_type_t;

/** The largest number of dimensions of a tensor. */
#define QUERN_MAX_NDIMS 12
typedef int64_t quern_dim_t;
typedef quern_dim_t quern_dims_t[QUERN_MAX_NDIMS];

/** A dimension, stride or offset that is given only at execution. */
#define QUERN_RUNTIME_DIM_VAL INT64_MIN
/** The size of a memory descriptor with such a dimension. */
#define QUERN_RUNTIME_SIZE_VAL ((size_t)QUERN_RUNTIME_DIM_VAL)

/** Passed as a handle: no buffer. */
#define QUERN_MEMORY_NONE (NULL)
/** Passed as a handle: the library allocates the buffer (aligned to 64 bytes) and frees it with the memory object. */
#define QUERN_MEMORY_ALLOCATE ((void *)(size_t)-1)

typedef enum QUERN_INT {
  quern_format_kind_undef = 0,
  quern_format_kind_any = 1,
  quern_blocked = 2,
  quern_format_kind_sparse = 4,     /**< several buffers; no primitive takes it */
  quern_format_kind_host_scalar = 5 /**< one value in the memory object itself */
} quern_format_kind_t;

/** Of a sparse tensor's values. */
typedef enum QUERN_INT {
  quern_sparse_encoding_undef = 0,
  quern_csr = 1,    /**< buffers: values; the column of each; where each row begins */
  quern_packed = 2, /**< whatever the primitive that packs it makes of it */
  quern_coo = 3     /**< buffers: values; for each dimension their indices along it */
} quern_sparse_encoding_t;

typedef enum QUERN_INT {
  quern_prop_kind_undef = 0,
  quern_forward_training = 64,
  quern_forward_inference = 96,
  quern_forward = quern_forward_training,
  quern_backward = 128,
  quern_backward_data = 160,
  quern_backward_weights = 192,
  quern_backward_bias = 193
} quern_prop_kind_t;

typedef enum QUERN_INT {
  quern_undefined_primitive = 0,
  quern_reorder = 1,
  quern_concat = 3,
  quern_sum = 4,         /**< a primitive and a post-op */
  quern_convolution = 5, /**< as a post-op */
  quern_eltwise = 7,     /**< a primitive and a post-op */
  quern_rnn = 11,
  quern_binary = 13, /**< a primitive and a post-op */
  quern_prelu = 18,  /**< as a post-op */
  quern_softmax = 19,
  quern_mlir = 0x1001 /**< a function of the caller's, no primitive */
} quern_primitive_kind_t;

typedef enum QUERN_INT {
  quern_alg_kind_undef = 0,
  quern_eltwise_relu = 0x20,
  quern_eltwise_tanh,
  quern_eltwise_elu,
  quern_eltwise_square,
  quern_eltwise_abs,
  quern_eltwise_sqrt,
  quern_eltwise_linear,
  quern_eltwise_soft_relu,
  quern_eltwise_hardsigmoid,
  quern_eltwise_logistic,
  quern_eltwise_exp,
  quern_eltwise_gelu_tanh,
  quern_eltwise_swish,
  quern_eltwise_log,
  quern_eltwise_clip,
  quern_eltwise_clip_v2,
  quern_eltwise_pow,
  quern_eltwise_gelu_erf,
  quern_eltwise_round,
  quern_eltwise_mish,
  quern_eltwise_hardswish,
  quern_eltwise_relu_use_dst_for_bwd = 0x100,
  quern_eltwise_tanh_use_dst_for_bwd,
  quern_eltwise_elu_use_dst_for_bwd,
  quern_eltwise_sqrt_use_dst_for_bwd,
  quern_eltwise_logistic_use_dst_for_bwd,
  quern_eltwise_exp_use_dst_for_bwd,
  quern_eltwise_clip_v2_use_dst_for_bwd,
  quern_vanilla_rnn = 0x1fff,
  quern_vanilla_lstm = 0x2fff,
  quern_vanilla_gru = 0x3fff,
  quern_lbr_gru = 0x4fff,
  quern_vanilla_augru = 0x5fff,
  quern_lbr_augru = 0x6fff,
  quern_binary_add = 0x1fff0,
  quern_binary_mul,
  quern_binary_max,
  quern_binary_min,
  quern_binary_div,
  quern_binary_sub,
  quern_binary_ge,
  quern_binary_gt,
  quern_binary_le,
  quern_binary_lt,
  quern_binary_eq,
  quern_binary_ne,
  quern_binary_select,
  quern_softmax_accurate = 0x30000,
  quern_softmax_log,
  quern_softmax_accurate_inf_as_zero
} quern_alg_kind_t;

typedef enum QUERN_INT {
  quern_rnn_flags_undef = 0,
  quern_rnn_flags_diff_weights_overwrite = 1,
  /** Each layer of a bidirectional stack reads both directions of the layer below, as in PyTorch. Not oneDNN's. */
  quern_rnn_flags_stack_concatenated = 0x10000
} quern_rnn_flags_t;

typedef enum QUERN_INT {
  quern_rnn_direction_undef = 0,
  quern_unidirectional_left2right = 1,
  quern_unidirectional_right2left = 2,
  quern_bidirectional_concat = 3,
  quern_bidirectional_sum = 4
} quern_rnn_direction_t;

/** Bits of the `flags` of a descriptor's extras (compensation appended to quantized weights). */
typedef enum QUERN_INT {
  quern_memory_extra_flag_none = 0,
  quern_memory_extra_flag_compensation_conv_s8s8 = 1,
  quern_memory_extra_flag_scale_adjust = 2,
  quern_memory_extra_flag_rnn_u8s8_compensation = 4,
  quern_memory_extra_flag_compensation_conv_asymmetric_src = 8,
  quern_memory_extra_flag_rnn_s8s8_compensation = 16
} quern_memory_extra_flags_t;

/** Permissions to compute f32 in a narrower type. Never an obligation. */
typedef enum QUERN_INT {
  quern_fpmath_mode_strict = 0,
  quern_fpmath_mode_bf16 = 1,
  quern_fpmath_mode_f16 = 2,
  quern_fpmath_mode_any = 3,
  quern_fpmath_mode_tf32 = 4
} quern_fpmath_mode_t;

typedef enum QUERN_INT {
  quern_accumulation_mode_strict = 0,
  quern_accumulation_mode_relaxed = 1,
  quern_accumulation_mode_any = 2,
  quern_accumulation_mode_s32 = 3,
  quern_accumulation_mode_f32 = 4,
  quern_accumulation_mode_f16 = 5
} quern_accumulation_mode_t;

/** How scales come about: given, or computed from the data (not implemented). */
typedef enum QUERN_INT {
  quern_quantization_mode_undef = 0,
  quern_quantization_mode_static_sazp = 1,
  quern_quantization_mode_dynamic_mx = 2,
  quern_quantization_mode_dynamic_fp = 3
} quern_quantization_mode_t;

/** The environment's rounding is to nearest, ties to even; stochastic rounding is not implemented. */
typedef enum QUERN_INT {
  quern_rounding_mode_environment = 0,
  quern_rounding_mode_stochastic = 1
} quern_rounding_mode_t;

typedef enum QUERN_INT { quern_scratchpad_mode_library = 0, quern_scratchpad_mode_user = 1 } quern_scratchpad_mode_t;

typedef enum QUERN_INT { quern_any_engine = 0, quern_cpu = 1, quern_gpu = 2 } quern_engine_kind_t;

typedef enum QUERN_INT {
  quern_stream_in_order = 1,
  quern_stream_out_of_order = 2,
  quern_stream_default_flags = quern_stream_in_order,
  quern_stream_profiling = 4
} quern_stream_flags_t;

typedef enum QUERN_INT {
  quern_profiling_data_kind_undef = 0,
  quern_profiling_data_kind_time = 1
} quern_profiling_data_kind_t;

/** Levels of the x86-64 instruction set; each includes what its bits include. */
typedef enum QUERN_INT {
  quern_cpu_isa_default = 0x0, /**< everything that the machine has */
  quern_cpu_isa_sse41 = 0x1,
  quern_cpu_isa_avx = 0x3,
  quern_cpu_isa_avx2 = 0x7,
  quern_cpu_isa_avx2_vnni = 0xf,
  quern_cpu_isa_avx2_vnni_2 = 0x1f,
  quern_cpu_isa_avx512_core = 0x27,
  quern_cpu_isa_avx512_core_vnni = 0x67,
  quern_cpu_isa_avx512_core_bf16 = 0xe7,
  quern_cpu_isa_avx10_1_512 = 0x1ef,
  quern_cpu_isa_avx512_core_fp16 = quern_cpu_isa_avx10_1_512,
  quern_cpu_isa_avx10_1_512_amx = 0xfef,
  quern_cpu_isa_avx512_core_amx = quern_cpu_isa_avx10_1_512_amx,
  quern_cpu_isa_avx10_1_512_amx_fp16 = 0x1fef,
  quern_cpu_isa_avx512_core_amx_fp16 = quern_cpu_isa_avx10_1_512_amx_fp16
} quern_cpu_isa_t;

/** Library version. */
typedef struct {
  int major, minor, patch;
  const char *hash;     /**< identity of the code generator; static */
  unsigned cpu_runtime; /**< QUERN_RUNTIME_TBB */
  unsigned gpu_runtime; /**< QUERN_RUNTIME_ZE, whether or not the machine has a device */
} quern_version_t;
#define QUERN_RUNTIME_NONE 0u
#define QUERN_RUNTIME_TBB 4u
#define QUERN_RUNTIME_ZE 1024u

/* Handles. A const_ handle that a query returns belongs to the object that was queried. */
typedef struct quern_engine *quern_engine_t;
typedef struct quern_stream *quern_stream_t;
typedef const struct quern_stream *const_quern_stream_t;
typedef struct quern_memory_desc *quern_memory_desc_t;
typedef const struct quern_memory_desc *const_quern_memory_desc_t;
typedef struct quern_memory *quern_memory_t;
typedef const struct quern_memory *const_quern_memory_t;
typedef struct quern_primitive_attr *quern_primitive_attr_t;
typedef const struct quern_primitive_attr *const_quern_primitive_attr_t;
typedef struct quern_post_ops *quern_post_ops_t;
typedef const struct quern_post_ops *const_quern_post_ops_t;
typedef struct quern_primitive_desc *quern_primitive_desc_t;
typedef const struct quern_primitive_desc *const_quern_primitive_desc_t;
typedef struct quern_primitive *quern_primitive_t;
typedef const struct quern_primitive *const_quern_primitive_t;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TYPES_H */
