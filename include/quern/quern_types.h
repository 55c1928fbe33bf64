/*===- quern/quern_types.h - Enumerations and handles of the C API --------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Concepts and values are those of oneDNN 3.x with the prefix quern_ instead of
 * dnnl_, so porting a program is renaming. Statuses that Quern adds start at
 * 100; its other additions are in quern_ext.h.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_TYPES_H
#define QUERN_TYPES_H

#include <stddef.h>
#include <stdint.h>

/** Marks a function that libquern exports. */
#if defined(__GNUC__)
#define QUERN_API __attribute__((visibility("default")))
#else
#define QUERN_API
#endif

/** Marks a function that does not throw. */
#ifdef __cplusplus
#define QUERN_NOEXCEPT noexcept
/** Gives an enumeration the underlying type int in C++, so that it may hold any value, as in C, and be checked. */
#define QUERN_INT : int
extern "C" {
#else
#define QUERN_NOEXCEPT
#define QUERN_INT
#endif

/** Result of a call. After a failure, quern_get_last_error_message() returns the reason. */
typedef enum QUERN_INT {
  quern_success = 0,           /**< the call succeeded */
  quern_out_of_memory = 1,     /**< an allocation failed; the same call may be repeated */
  quern_invalid_arguments = 2, /**< an error of the caller; the message names the value and the limit */
  quern_unimplemented = 3,     /**< legal, but not supported; use another implementation */
  quern_last_impl_reached = 4, /**< there is no further implementation */
  quern_runtime_error = 5,     /**< an error of the environment: a missing library, the disk, a device */
  quern_not_required = 6,      /**< the queried thing does not exist for this object */
  quern_internal_error = 100   /**< a defect of Quern; please report it with the message */
} quern_status_t;

/** Element type of a tensor. */
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
  quern_s64 = 16 /**< for indices of sparse tensors and seeds of dropout */
} quern_data_type_t;

/** Maximum number of dimensions of a tensor. */
#define QUERN_MAX_NDIMS 12
typedef int64_t quern_dim_t;                       /**< size, stride or offset in elements */
typedef quern_dim_t quern_dims_t[QUERN_MAX_NDIMS]; /**< one value per dimension, outermost first */

/** A dimension, stride or offset that is known only at execution (open). */
#define QUERN_RUNTIME_DIM_VAL INT64_MIN
/** Size in bytes of a memory descriptor with an open dimension, stride or offset. */
#define QUERN_RUNTIME_SIZE_VAL ((size_t)QUERN_RUNTIME_DIM_VAL)

/** Handle of a memory object without a buffer. */
#define QUERN_MEMORY_NONE (NULL)
/** Handle that makes the library allocate the buffer (aligned to 64 bytes) and free it with the memory object. */
#define QUERN_MEMORY_ALLOCATE ((void *)(size_t)-1)

/** How a memory descriptor describes its layout. */
typedef enum QUERN_INT {
  quern_format_kind_undef = 0,
  quern_format_kind_any = 1,        /**< the primitive chooses the layout */
  quern_blocked = 2,                /**< strides and blocks */
  quern_format_kind_sparse = 4,     /**< several buffers; no primitive supports it */
  quern_format_kind_host_scalar = 5 /**< one value, stored in the memory object */
} quern_format_kind_t;

/** Encoding of the values of a sparse tensor. */
typedef enum QUERN_INT {
  quern_sparse_encoding_undef = 0,
  quern_csr = 1,    /**< buffers: values; the column of each value; the start of each row */
  quern_packed = 2, /**< defined by the primitive that packs the tensor */
  quern_coo = 3     /**< buffers: values; for each dimension their indices along it */
} quern_sparse_encoding_t;

/** Propagation kind of a primitive. */
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

/** Kind of a primitive or of a post-op. */
typedef enum QUERN_INT {
  quern_undefined_primitive = 0,
  quern_reorder = 1,
  quern_concat = 3,
  quern_sum = 4,         /**< a primitive and a post-op */
  quern_convolution = 5, /**< a post-op only */
  quern_eltwise = 7,     /**< a primitive and a post-op */
  quern_rnn = 11,
  quern_gemm = 12,   /**< a matrix product in the text form; its functions are in quern_gemm.h */
  quern_binary = 13, /**< a primitive and a post-op */
  quern_prelu = 18,  /**< a post-op only */
  quern_softmax = 19,
  quern_mlir = 0x1001 /**< a function in MLIR (quern_mlir.h) */
} quern_primitive_kind_t;

/** Algorithm of a primitive or of a post-op; docs/primitives has the formulas. */
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

/** Bits of the flags of an RNN. */
typedef enum QUERN_INT {
  quern_rnn_flags_undef = 0,
  /** Backward overwrites the gradients of weights and bias instead of adding to them. */
  quern_rnn_flags_diff_weights_overwrite = 1,
  /** Each layer of a bidirectional stack reads both directions of the layer below, as in PyTorch. oneDNN lacks it. */
  quern_rnn_flags_stack_concatenated = 0x10000
} quern_rnn_flags_t;

/** Order in which an RNN processes the time steps. */
typedef enum QUERN_INT {
  quern_rnn_direction_undef = 0,
  quern_unidirectional_left2right = 1,
  quern_unidirectional_right2left = 2,
  quern_bidirectional_concat = 3, /**< both; the results are concatenated along the channels */
  quern_bidirectional_sum = 4     /**< both; the results are added */
} quern_rnn_direction_t;

/** Bits of the extra flags of a memory descriptor: compensation values that follow quantized weights. */
typedef enum QUERN_INT {
  quern_memory_extra_flag_none = 0,
  quern_memory_extra_flag_compensation_conv_s8s8 = 1,
  quern_memory_extra_flag_scale_adjust = 2,
  quern_memory_extra_flag_rnn_u8s8_compensation = 4,
  quern_memory_extra_flag_compensation_conv_asymmetric_src = 8,
  quern_memory_extra_flag_rnn_s8s8_compensation = 16
} quern_memory_extra_flags_t;

/** Permission to compute f32 in a narrower type. A primitive may ignore it. */
typedef enum QUERN_INT {
  quern_fpmath_mode_strict = 0,
  quern_fpmath_mode_bf16 = 1,
  quern_fpmath_mode_f16 = 2,
  quern_fpmath_mode_any = 3,
  quern_fpmath_mode_tf32 = 4
} quern_fpmath_mode_t;

/** Permission to accumulate in a narrower type; see quern_primitive_attr_set_accumulation_mode(). */
typedef enum QUERN_INT {
  quern_accumulation_mode_strict = 0,
  quern_accumulation_mode_relaxed = 1,
  quern_accumulation_mode_any = 2,
  quern_accumulation_mode_s32 = 3,
  quern_accumulation_mode_f32 = 4,
  quern_accumulation_mode_f16 = 5
} quern_accumulation_mode_t;

/** Source of scales: arguments of an execution, or computed from the data (not implemented). */
typedef enum QUERN_INT {
  quern_quantization_mode_undef = 0,
  quern_quantization_mode_static_sazp = 1,
  quern_quantization_mode_dynamic_mx = 2,
  quern_quantization_mode_dynamic_fp = 3
} quern_quantization_mode_t;

/** Rounding of results. The environment rounds to nearest, ties to even; stochastic rounding is not implemented. */
typedef enum QUERN_INT {
  quern_rounding_mode_environment = 0,
  quern_rounding_mode_stochastic = 1
} quern_rounding_mode_t;

/** Whether the library or the caller (QUERN_ARG_SCRATCHPAD) provides the scratchpad of an execution. */
typedef enum QUERN_INT { quern_scratchpad_mode_library = 0, quern_scratchpad_mode_user = 1 } quern_scratchpad_mode_t;

/** Kind of an engine. */
typedef enum QUERN_INT { quern_any_engine = 0, quern_cpu = 1, quern_gpu = 2 } quern_engine_kind_t;

/** Bits of the flags of a stream. */
typedef enum QUERN_INT {
  quern_stream_in_order = 1,                          /**< an execution starts when the one before has ended */
  quern_stream_out_of_order = 2,                      /**< only quern_stream_wait() orders executions */
  quern_stream_default_flags = quern_stream_in_order, /**< default of the C++ API */
  quern_stream_profiling = 4                          /**< records the time of each execution */
} quern_stream_flags_t;

/** Kind of profiling data. */
typedef enum QUERN_INT {
  quern_profiling_data_kind_undef = 0,
  quern_profiling_data_kind_time = 1 /**< duration of an execution in ns */
} quern_profiling_data_kind_t;

/**
 * Levels of the instruction sets of x86-64 and AArch64. A level includes all levels whose bits it has. The levels of
 * x86-64 have oneDNN's values; oneDNN has none for AArch64.
 */
typedef enum QUERN_INT {
  quern_cpu_isa_default = 0x0, /**< all instruction sets of the machine */
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
  quern_cpu_isa_avx512_core_amx_fp16 = quern_cpu_isa_avx10_1_512_amx_fp16,
  quern_cpu_isa_neon = 0x1000000,         /**< Armv8.2-A with Advanced SIMD */
  quern_cpu_isa_neon_dotprod = 0x3000000, /**< neon and DotProd */
  quern_cpu_isa_neon_bf16 = 0x7000000,    /**< neon_dotprod, BF16 and I8MM */
  quern_cpu_isa_sve = 0x9000000,          /**< neon and SVE */
  quern_cpu_isa_sve_bf16 = 0xf000000      /**< sve and neon_bf16 */
} quern_cpu_isa_t;

/** Version of the library. */
typedef struct {
  int major,            /**< major version */
          minor,        /**< minor version */
          patch;        /**< patch level */
  const char *hash;     /**< build id of the code generator; a static string */
  unsigned cpu_runtime; /**< QUERN_RUNTIME_TBB */
  unsigned gpu_runtime; /**< QUERN_RUNTIME_ZE, whether or not the machine has a device */
} quern_version_t;
#define QUERN_RUNTIME_NONE 0u  /**< quern_version_t: no runtime */
#define QUERN_RUNTIME_TBB 4u   /**< quern_version_t: oneTBB */
#define QUERN_RUNTIME_ZE 1024u /**< quern_version_t: Level Zero */

/* Handles. A const_ handle that a query returns is owned by the queried object. */
typedef struct quern_engine *quern_engine_t;                       /**< a CPU or a device */
typedef struct quern_stream *quern_stream_t;                       /**< a queue of executions */
typedef const struct quern_stream *const_quern_stream_t;           /**< a stream that is not modified */
typedef struct quern_memory_desc *quern_memory_desc_t;             /**< shape, type and layout of a tensor */
typedef const struct quern_memory_desc *const_quern_memory_desc_t; /**< a memory descriptor that is not modified */
typedef struct quern_memory *quern_memory_t;                       /**< a memory descriptor with a buffer */
typedef const struct quern_memory *const_quern_memory_t;           /**< a memory object that is not modified */
typedef struct quern_primitive_attr *quern_primitive_attr_t;       /**< attributes of a primitive */
typedef const struct quern_primitive_attr *const_quern_primitive_attr_t; /**< attributes that are not modified */
typedef struct quern_post_ops *quern_post_ops_t;                         /**< a list of post-ops */
typedef const struct quern_post_ops *const_quern_post_ops_t;             /**< a list of post-ops that is not modified */
typedef struct quern_primitive_desc *quern_primitive_desc_t;             /**< a verified problem */
typedef const struct quern_primitive_desc *const_quern_primitive_desc_t; /**< a problem that is not modified */
typedef struct quern_primitive *quern_primitive_t;                       /**< a problem with its kernel */
typedef const struct quern_primitive *const_quern_primitive_t;           /**< a primitive that is not modified */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TYPES_H */
