/*===- quern/quern_query.h - Argument indices and queries ------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * QUERN_ARG_ values identify the arguments of an execution; quern_query_t has
 * the properties of descriptors. The values are those of oneDNN 3.x.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_QUERY_H
#define QUERN_QUERY_H

#include "quern/quern_types.h"

/* --- Arguments of an execution ----------------------------------------- */
#define QUERN_ARG_UNDEF 0                                /**< no argument */
#define QUERN_ARG_SRC_0 1                                /**< first source */
#define QUERN_ARG_SRC QUERN_ARG_SRC_0                    /**< source */
#define QUERN_ARG_SRC_LAYER QUERN_ARG_SRC_0              /**< RNN: input sequence */
#define QUERN_ARG_FROM QUERN_ARG_SRC_0                   /**< reorder: source */
#define QUERN_ARG_SRC_1 2                                /**< second source */
#define QUERN_ARG_SRC_ITER QUERN_ARG_SRC_1               /**< RNN: initial state */
#define QUERN_ARG_SRC_2 3                                /**< third source: the condition of a select */
#define QUERN_ARG_SRC_ITER_C QUERN_ARG_SRC_2             /**< LSTM: initial cell state */
#define QUERN_ARG_SRC_3 4                                /**< fourth source */
#define QUERN_ARG_AUGRU_ATTENTION QUERN_ARG_SRC_3        /**< AUGRU: attention */
#define QUERN_ARG_DST_0 17                               /**< first result */
#define QUERN_ARG_DST QUERN_ARG_DST_0                    /**< result */
#define QUERN_ARG_TO QUERN_ARG_DST_0                     /**< reorder: destination */
#define QUERN_ARG_DST_LAYER QUERN_ARG_DST_0              /**< RNN: output sequence */
#define QUERN_ARG_DST_1 18                               /**< second result */
#define QUERN_ARG_DST_ITER QUERN_ARG_DST_1               /**< RNN: final state */
#define QUERN_ARG_DST_2 19                               /**< third result */
#define QUERN_ARG_DST_ITER_C QUERN_ARG_DST_2             /**< LSTM: final cell state */
#define QUERN_ARG_WEIGHTS_0 33                           /**< first weights */
#define QUERN_ARG_WEIGHTS QUERN_ARG_WEIGHTS_0            /**< weights */
#define QUERN_ARG_WEIGHTS_LAYER QUERN_ARG_WEIGHTS_0      /**< RNN: weights of the input */
#define QUERN_ARG_WEIGHTS_1 34                           /**< second weights */
#define QUERN_ARG_WEIGHTS_ITER QUERN_ARG_WEIGHTS_1       /**< RNN: weights of the state */
#define QUERN_ARG_WEIGHTS_2 35                           /**< third weights */
#define QUERN_ARG_WEIGHTS_PEEPHOLE QUERN_ARG_WEIGHTS_2   /**< LSTM: peephole weights */
#define QUERN_ARG_WEIGHTS_3 36                           /**< fourth weights */
#define QUERN_ARG_WEIGHTS_PROJECTION QUERN_ARG_WEIGHTS_3 /**< LSTM: projection weights */
#define QUERN_ARG_BIAS 41                                /**< bias */
#define QUERN_ARG_WORKSPACE 64                           /**< values that forward training passes to backward */
#define QUERN_ARG_SCRATCHPAD 80                          /**< scratchpad of scratchpad mode user */
#define QUERN_ARG_SEQ_LENGTHS 96                /**< RNN: number of steps of each sequence, s32 [N]; oneDNN lacks it */
#define QUERN_ARG_DIFF_SRC_0 129                /**< gradient of the first source */
#define QUERN_ARG_DIFF_SRC QUERN_ARG_DIFF_SRC_0 /**< gradient of the source */
#define QUERN_ARG_DIFF_SRC_LAYER QUERN_ARG_DIFF_SRC_0              /**< gradient of src_layer */
#define QUERN_ARG_DIFF_SRC_1 130                                   /**< gradient of the second source */
#define QUERN_ARG_DIFF_SRC_ITER QUERN_ARG_DIFF_SRC_1               /**< gradient of src_iter */
#define QUERN_ARG_DIFF_SRC_2 131                                   /**< gradient of the third source */
#define QUERN_ARG_DIFF_SRC_ITER_C QUERN_ARG_DIFF_SRC_2             /**< gradient of src_iter_c */
#define QUERN_ARG_DIFF_SRC_3 132                                   /**< gradient of the fourth source */
#define QUERN_ARG_DIFF_AUGRU_ATTENTION QUERN_ARG_DIFF_SRC_3        /**< gradient of the attention */
#define QUERN_ARG_DIFF_DST_0 145                                   /**< gradient of the first result */
#define QUERN_ARG_DIFF_DST QUERN_ARG_DIFF_DST_0                    /**< gradient of the result */
#define QUERN_ARG_DIFF_DST_LAYER QUERN_ARG_DIFF_DST_0              /**< gradient of dst_layer */
#define QUERN_ARG_DIFF_DST_1 146                                   /**< gradient of the second result */
#define QUERN_ARG_DIFF_DST_ITER QUERN_ARG_DIFF_DST_1               /**< gradient of dst_iter */
#define QUERN_ARG_DIFF_DST_2 147                                   /**< gradient of the third result */
#define QUERN_ARG_DIFF_DST_ITER_C QUERN_ARG_DIFF_DST_2             /**< gradient of dst_iter_c */
#define QUERN_ARG_DIFF_WEIGHTS_0 161                               /**< gradient of the first weights */
#define QUERN_ARG_DIFF_WEIGHTS QUERN_ARG_DIFF_WEIGHTS_0            /**< gradient of the weights */
#define QUERN_ARG_DIFF_WEIGHTS_LAYER QUERN_ARG_DIFF_WEIGHTS_0      /**< gradient of weights_layer */
#define QUERN_ARG_DIFF_WEIGHTS_1 162                               /**< gradient of the second weights */
#define QUERN_ARG_DIFF_WEIGHTS_ITER QUERN_ARG_DIFF_WEIGHTS_1       /**< gradient of weights_iter */
#define QUERN_ARG_DIFF_WEIGHTS_2 163                               /**< gradient of the third weights */
#define QUERN_ARG_DIFF_WEIGHTS_PEEPHOLE QUERN_ARG_DIFF_WEIGHTS_2   /**< gradient of weights_peephole */
#define QUERN_ARG_DIFF_WEIGHTS_3 164                               /**< gradient of the fourth weights */
#define QUERN_ARG_DIFF_WEIGHTS_PROJECTION QUERN_ARG_DIFF_WEIGHTS_3 /**< gradient of weights_projection */
#define QUERN_ARG_DIFF_BIAS 169                                    /**< gradient of the bias */
#define QUERN_ARG_ATTR_DROPOUT_OFFSET 507                          /**< dropout: position in the random sequence, s64 */
#define QUERN_ARG_ATTR_DROPOUT_MASK 509                            /**< dropout: mask, u8, an output */
#define QUERN_ARG_ATTR_DROPOUT_PROBABILITY 510                     /**< dropout: probability, f32 */
#define QUERN_ARG_ATTR_DROPOUT_SEED 511                            /**< dropout: seed, s32 or s64 */
/** Source i of a sum or concat: QUERN_ARG_MULTIPLE_SRC + i, i below 1024. */
#define QUERN_ARG_MULTIPLE_SRC 1024
/** Result i of a function in MLIR: QUERN_ARG_MULTIPLE_DST + i. Its argument i is QUERN_ARG_MULTIPLE_SRC + i. */
#define QUERN_ARG_MULTIPLE_DST 2048
/** Scales of argument `arg`: QUERN_ARG_ATTR_SCALES | arg. */
#define QUERN_ARG_ATTR_SCALES 4096
/** Zero points of argument `arg`: QUERN_ARG_ATTR_ZERO_POINTS | arg. */
#define QUERN_ARG_ATTR_ZERO_POINTS 8192
/** Difference between the argument indices of consecutive post-ops. */
#define QUERN_ARG_ATTR_MULTIPLE_POST_OP_BASE 32768
/** Tensor of post-op `idx`: QUERN_ARG_ATTR_MULTIPLE_POST_OP(idx) | QUERN_ARG_SRC_1. */
#define QUERN_ARG_ATTR_MULTIPLE_POST_OP(idx) (QUERN_ARG_ATTR_MULTIPLE_POST_OP_BASE * ((idx) + 1))

/* --- Queries ----------------------------------------------------------- */
/** Properties of primitive descriptors and memory descriptors. Comments give the type that `result` points to. */
typedef enum QUERN_INT {
  quern_query_undef = 0,
  quern_query_engine = 1,             /**< quern_engine_t */
  quern_query_primitive_kind = 2,     /**< quern_primitive_kind_t */
  quern_query_num_of_inputs_s32 = 3,  /**< int; tensors including those of post-ops, without scales and zero points */
  quern_query_num_of_outputs_s32 = 4, /**< int; tensors */
  quern_query_time_estimate_f64 = 5,  /**< double; seconds on one core, 0 if unknown */
  quern_query_memory_consumption_s64 = 6,  /**< int64_t; bytes of scratch per execution; 0 in scratchpad mode user */
  quern_query_scratchpad_engine = 7,       /**< quern_engine_t */
  quern_query_impl_info_str = 8,           /**< const char *; name of the implementation */
  quern_query_reorder_src_engine = 9,      /**< quern_engine_t */
  quern_query_reorder_dst_engine = 10,     /**< quern_engine_t */
  quern_query_prop_kind = 11,              /**< quern_prop_kind_t */
  quern_query_cache_blob_id_size_s64 = 12, /**< int64_t; bytes */
  quern_query_cache_blob_id = 13,          /**< const uint8_t *; key of the kernel */
  quern_query_strides = 14,                /**< const quern_dims_t *; for memory descriptors; in elements */
  quern_query_flags = 19,                  /**< unsigned; RNN */
  quern_query_alg_kind = 20,               /**< quern_alg_kind_t */
  quern_query_alpha_f32 = 21,              /**< float; eltwise, RNN activation */
  quern_query_beta_f32 = 22,               /**< float; eltwise */
  quern_query_axis_s32 = 23,               /**< int; softmax, concat */
  quern_query_cell_kind = 28,              /**< quern_alg_kind_t; RNN */
  quern_query_direction = 29,              /**< quern_rnn_direction_t; RNN */
  quern_query_activation_kind = 30,        /**< quern_alg_kind_t; RNN */
  quern_query_some_md = 128,
  quern_query_src_md = 129, /**< const_quern_memory_desc_t, as for the next queries; the index selects the tensor */
  quern_query_diff_src_md = 130,
  quern_query_weights_md = 131,
  quern_query_diff_weights_md = 132,
  quern_query_dst_md = 133,
  quern_query_diff_dst_md = 134,
  quern_query_workspace_md = 135,
  quern_query_scratchpad_md = 136,
  quern_query_exec_arg_md = 255,          /**< the index is a QUERN_ARG_ value */
  quern_query_ndims_s32 = 256,            /**< int; this and the following queries are for memory descriptors */
  quern_query_dims = 257,                 /**< const quern_dims_t * */
  quern_query_data_type = 258,            /**< quern_data_type_t */
  quern_query_submemory_offset_s64 = 259, /**< int64_t; in elements */
  quern_query_padded_dims = 260,          /**< const quern_dims_t * */
  quern_query_padded_offsets = 261,       /**< const quern_dims_t * */
  quern_query_format_kind = 262,          /**< quern_format_kind_t */
  quern_query_inner_nblks_s32 = 263,      /**< int; number of blocks */
  quern_query_inner_blks = 264,           /**< const quern_dims_t *; sizes of the blocks, outermost first */
  quern_query_inner_idxs = 265,           /**< const quern_dims_t *; dims of the blocks */
  quern_query_sparse_encoding = 266, /**< quern_sparse_encoding_t; from here on only quern_memory_desc_query_v2() */
  quern_query_nnz_s64 = 267,         /**< int64_t; values of a sparse tensor */
  quern_query_num_handles_s32 = 268  /**< int; buffers of a memory */
} quern_query_t;

#endif /* QUERN_QUERY_H */
